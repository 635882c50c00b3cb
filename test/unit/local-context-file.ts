import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import { removeContexts, writeContexts } from '../../src/local/context-file.ts';
import { temporaryFolder, type Teardown } from '../kit/nats-server.ts';

const secrets = { app: new Secret('app-pass'), sys: new Secret('sys-pass'), route: new Secret('route-pass') };
const urls = ['nats://127.0.0.1:4222', 'nats://127.0.0.1:4223'];

function setUp(t: Teardown) {
  const folder = temporaryFolder(t);
  const contexts = join(folder, 'config', 'nats', 'context');
  const options = (name: string) => {
    const home = join(folder, name);
    mkdirSync(home, { recursive: true });
    return { configHome: join(folder, 'config'), cluster: 'trawl', home, urls, secrets };
  };
  return { contexts, options };
}

t.test('two contexts that only their owner reads', async (t) => {
  const { contexts, options } = setUp(t);
  const home = options('one');
  t.strictSame(writeContexts(home), { app: 'trawl', sys: 'trawl-sys' });
  const file = join(contexts, 'trawl.json');
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), {
    description: `Trawl local cluster in ${home.home}`,
    url: urls.join(','),
    user: 'trawl',
    password: 'app-pass',
  });
  t.match(JSON.parse(readFileSync(join(contexts, 'trawl-sys.json'), 'utf8')), {
    user: 'sys',
    password: 'sys-pass',
  });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.strictSame(writeContexts(home), { app: 'trawl', sys: 'trawl-sys' }, 'again: the same names');
  t.strictSame(removeContexts(home), ['trawl', 'trawl-sys']);
  t.notOk(existsSync(file));
});

t.test('a context of somebody else is left alone', async (t) => {
  const { contexts, options } = setUp(t);
  mkdirSync(contexts, { recursive: true });
  const foreign = '{"url":"nats://prod","description":"production"}';
  writeFileSync(join(contexts, 'trawl.json'), foreign);
  const names = writeContexts(options('one'));
  t.match(names?.app, /^trawl-[0-9a-f]{6}$/);
  t.equal(readFileSync(join(contexts, 'trawl.json'), 'utf8'), foreign);
  t.strictSame(removeContexts(options('one')), [names?.app, names?.sys]);
  t.equal(readFileSync(join(contexts, 'trawl.json'), 'utf8'), foreign);
});

t.test('two homes have two contexts; one whose home is gone is taken over', async (t) => {
  const { options } = setUp(t);
  t.equal(writeContexts(options('one'))?.app, 'trawl');
  const second = options('two');
  t.not(writeContexts(second)?.app, 'trawl');
  rmSync(second.home, { recursive: true });
  rmSync(options('one').home, { recursive: true });
  t.equal(writeContexts(options('three'))?.app, 'trawl');
  t.strictSame(removeContexts(options('one')), [], 'no longer that of the first home');
});
