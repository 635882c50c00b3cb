import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSinkFile, readSinkFile } from '../../src/config/sink-file.ts';
import { readSinkWords } from '../../src/config/sink-words.ts';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

const context = { env: { PW: 'geheim', DB: 'postgres://me:geheim@h/db' }, cwd: '/' };

t.test('the words of each type', async (t) => {
  t.match(readSinkWords('a', { type: 'ndjson', path: 'out', gzip: 'true', rotateSize: '1MB' }, context), {
    ok: true,
    spec: { name: 'a', type: 'ndjson', path: 'out', gzip: true, rotateBytes: 1_000_000 },
  });
  t.match(readSinkWords('a', { type: 'csv', path: 'out', kind: ['x', 'y'], columns: 'p, q' }, context), {
    spec: { kinds: ['x', 'y'], columns: ['p', 'q'], rotateBytes: 256 * 1024 * 1024 },
  });
  const database = readSinkWords('a', { type: 'postgres', url: 'env:DB', password: 'env:PW' }, context);
  if (!database.ok || database.spec.type !== 'postgres') throw new Error('not read');
  t.equal(database.spec.url.reveal(), 'postgres://me:geheim@h/db');
  t.equal(database.spec.password?.reveal(), 'geheim');
  t.equal(database.spec.table, 'trawl_items');
  t.match(readSinkWords('a', { type: 'webhook', url: 'http://10.0.0.1/x' }, context), {
    spec: { batch: 500, path: '.' },
  });
  t.match(readSinkWords('a', { type: 'stdout', run: 'friday' }, context), { spec: { run: 'friday' } });
});

t.test('what is wrong is told at once, and no secret is repeated', async (t) => {
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{}, /type is missing/],
    [{ type: 'xml' }, /type must be ndjson, csv, postgres, webhook or stdout/],
    [{ type: 'ndjson' }, /needs path/],
    [{ type: 'ndjson', path: 'x', table: 't' }, /a sink of type ndjson has no table/],
    [{ type: 'ndjson', path: 'x', rotatesize: '5' }, /a sink has no rotatesize; did you mean rotateSize\?/],
    [{ type: 'postgres', url: 'postgres://me:hush@h/db' }, /url holds a password/],
    [{ type: 'postgres', url: 'http://h' }, /url must be a URL of postgres:/],
    [{ type: 'postgres', url: 'postgres://h/db', table: 'a; drop' }, /table must be name or schema.name/],
    [{ type: 'postgres', url: 'postgres://h/db', password: 'hush' }, /password is a secret/],
    [{ type: 'postgres', url: 'env:NONE' }, /url refers to the environment variable NONE/],
    [{ type: 'webhook', url: 'https://me:hush@h/' }, /url must not hold a user/],
    [{ type: 'webhook', url: 'https://h/', secret: 'file:/nowhere' }, /secret refers to the file/],
  ];
  for (const [words, problem] of cases) {
    const read = readSinkWords('a', words, context);
    const text = read.ok ? '' : read.problems.map((each) => each.problem).join('; ');
    t.match(text, problem, JSON.stringify(words));
    t.notMatch(text, /hush/);
  }
  t.match(readSinkWords('a b', { type: 'stdout' }, context), { ok: false });
});

t.test('a file of sinks', async (t) => {
  const shipped = readFileSync(join(projectRoot, 'config/sinks.yaml'), 'utf8');
  t.match(parseSinkFile(shipped, 'sinks.yaml', context), {
    problems: [],
    sinks: [{ name: 'archive', gzip: true }],
  });
  const all = shipped.replace(/^# (\w+:)( {2,}.*)?$/gm, '$1').replace(/^# {3}(\w+: \S+( \S+)?).*$/gm, '  $1');
  const env = { DB_PASSWORD: 'x', HOOK_SECRET: 'y' };
  const read = parseSinkFile(all.replace(/\] {2,}.*$/gm, ']').replace(/(\S) {4,}\S.*$/gm, '$1'), 'x', {
    ...context,
    env,
  });
  t.same(read.problems, [], 'its examples are right');
  t.same(
    read.sinks.map(({ type }) => type),
    ['ndjson', 'csv', 'postgres', 'webhook'],
  );
  t.same(parseSinkFile('a:\n  type: stdout\n  paths: x\nb: 1\n', 'f.yaml', context).problems, [
    'f.yaml:3:3: a sink has no paths; did you mean path?',
    'f.yaml:4:1: the sink b must be lines of "key: value"',
  ]);
  t.same(parseSinkFile('', 'f.yaml', context), { sinks: [], problems: [] });
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, 'bad.yaml'), '- a\n');
  t.throws(() => readSinkFile('bad.yaml', { env: {}, cwd }), { code: 'INVALID', message: /bad\.yaml:1:1/ });
  t.throws(() => readSinkFile('none.yaml', { env: {}, cwd }), { code: 'INVALID', message: /cannot be read/ });
});
