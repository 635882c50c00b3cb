import t from 'tap';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '../../src/config/catalogue.ts';
import { renderDefaultFile } from '../../src/config/default-file.ts';
import { loadConfig } from '../../src/config/load.ts';
import { pickNearest } from '../../src/domain/nearest.ts';
import { projectRoot } from '../../src/project-root.ts';

t.test('names are made from paths, are unique, and every setting is explained', async (t) => {
  const tlsCa = settings.find((setting) => setting.path === 'nats.tlsCa');
  t.equal(tlsCa?.flag, 'nats-tls-ca');
  t.same(tlsCa?.env, ['TRAWL_NATS_TLS_CA']);
  t.same(settings.find((setting) => setting.path === 'home')?.env, ['TRAWL_HOME']);
  t.equal(settings.find((setting) => setting.path === 'actor.id')?.flag, 'id');

  const names = settings.flatMap(({ flag, env, field }) => [flag, ...env, field.flagAlias ?? []].flat());
  t.equal(new Set(names).size, names.length);
  for (const { path, field, section } of settings) {
    t.match(field.doc, /^[A-Z].*[^.]$/, `${path} has a sentence, whose full stop is added where it is shown`);
    t.notMatch(section, /[A-Z]/, 'names of sections are single words, or flags could not be told apart');
    if (field.default !== undefined)
      t.ok(field.parser.parse(field.default).ok, `${path} accepts its default`);
  }
});

t.test('config/trawl.yaml is what the table makes', async (t) => {
  const shipped = readFileSync(join(projectRoot, 'config/trawl.yaml'), 'utf8');
  t.equal(shipped, renderDefaultFile(), 'run `make docs`');
});

t.test('the file sets nothing as it is, and its defaults once they are uncommented', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-config-'));
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, 'config'));
  const defaults = loadConfig({ flags: {}, env: {}, cwd }).config;

  writeFileSync(join(cwd, 'config/trawl.yaml'), renderDefaultFile());
  const untouched = loadConfig({ flags: {}, env: {}, cwd });
  t.same(untouched.config, defaults);
  t.ok([...untouched.sources.values()].every((origin) => origin.kind === 'default'));

  writeFileSync(
    join(cwd, 'config/trawl.yaml'),
    renderDefaultFile().replace(/^( *)# ([a-z]\w*: \S+)$/gm, '$1$2'),
  );
  const uncommented = loadConfig({ flags: {}, env: {}, cwd });
  t.same(uncommented.config, defaults);
  for (const { path, field } of settings)
    t.equal(uncommented.sources.get(path)?.kind, field.default === undefined ? 'default' : 'file', path);
});

t.test('the nearest name', async (t) => {
  const known = ['nats.url', 'nats.user', 'http.port', 'http.host', 'actor.id', 'nats', 'log'];
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['nats.urll', 'nats.url'],
    ['nats.rul', 'nats.url'],
    ['NATS_URL', 'nats.url'],
    ['nats-user', 'nats.user'],
    ['http.prot', 'http.port'],
    ['id', 'actor.id'],
    ['log.host', 'http.host'],
    ['nat', 'nats'],
    ['logs', 'log'],
    ['something.else', undefined],
    ['', undefined],
    ['zz', undefined],
  ];
  for (const [name, nearest] of cases) t.equal(pickNearest(name, known), nearest, JSON.stringify(name));
});
