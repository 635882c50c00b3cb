/** What is there for a run on a cluster is there for one of single mode: sums, the list, a sink, the removal. */
import t from 'tap';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLockHolder } from '../../src/local/home-lock.ts';
import { ndjsonOf } from '../kit/sink-files.ts';
import { killHard } from '../kit/sink-world.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

const SCRAPER = `
  export const scraper = {
    name: 'near',
    retries: 0,
    async run({ input, signal, emit }) {
      if (input.key === 'slow')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (input.key === 'bad') throw new Error('no');
      emit({ key: input.key });
      emit('note', { key: 'note' });
    },
  };
`;

// Nobody answers there: whoever asks the cluster fails.
const trawl = await installTrawl(t, { NATS_URL: 'nats://127.0.0.1:1' });
const root = join(trawl.home, '..');
const out = join(root, 'out');
mkdirSync(join(root, 'config/scrapers'), { recursive: true });
writeFileSync(join(root, 'config/scrapers/near.mjs'), SCRAPER);

const listOf = (...keys: string[]): string => {
  const file = join(root, `${keys.join('-')}.ndjson`);
  writeFileSync(file, keys.map((key) => `${JSON.stringify({ input: { key } })}\n`).join(''));
  return file;
};

t.test('of a run that has ended', { timeout: 120_000 }, async (t) => {
  for (const [run, list] of [
    ['monday', listOf('a', 'b', 'bad')],
    ['tuesday', listOf('a', 'c')],
  ] as const) {
    const ran = await trawl.run('run', 'near', '--single', '--urls-file', list, '--run-id', run);
    t.equal(ran.code, run === 'monday' ? 4 : 0, ran.stderr);
  }

  t.match(await trawl.json('aggregate', 'monday'), {
    run: 'monday',
    total: { tasks: 3, done: 2, dead: 1, items: 4 },
  });
  t.match(await trawl.json('runs', 'show', 'monday'), { id: 'monday', counts: { done: 2, dead: 1 } });
  const { runs } = await trawl.json<{ runs: object[] }>('runs', 'ls', '--single');
  t.match(runs, [
    { id: 'tuesday', scraper: 'near', state: 'done' },
    { id: 'monday', scraper: 'near', state: 'done_with_errors', data: join(trawl.home, 'single/monday') },
  ]);
  const filtered = await trawl.run('runs', 'ls', '--single', '--state', 'done');
  t.match(filtered.stdout, /^RUN +SCRAPER +STATE +AGE +DATA\ntuesday /);
  t.match(await trawl.run('runs', 'ls'), { code: 3, stderr: /`trawl runs ls --single` lists the runs/ });

  const sink = ['sink', 'near', '--type', 'ndjson', '--path', out];
  const endless = await trawl.run(...sink, '--run', 'monday');
  t.match(endless, { code: 2, stderr: /single\/monday has a server only while .*\n.*--until-empty/ });
  for (const run of ['monday', 'tuesday', 'monday', 'tuesday']) {
    const { code, stderr } = await trawl.run(...sink, '--run', run, '--until-empty');
    t.equal(code, 0, stderr);
  }
  t.same(
    ndjsonOf(out, '.ndjson')
      .map(({ run, item }) => `${run} ${item.key}`)
      .sort(),
    [
      'monday a',
      'monday b',
      'monday note',
      'monday note',
      'tuesday a',
      'tuesday c',
      'tuesday note',
      'tuesday note',
    ],
    'each ledger once, into one folder',
  );
  const data = join(trawl.home, 'single/monday');
  const hook = ['sink', 'hook', '--type', 'webhook', '--url', 'http://127.0.0.1:1/', '--path', out];
  const failing = trawl.start(...hook, '--run', 'monday', '--until-empty');
  const interrupted = once(failing, 'exit');
  await new Promise<void>((resolve) => {
    failing.stderr
      ?.setEncoding('utf8')
      .on('data', (said: string) => said.includes('sink.failed') && resolve());
  });
  failing.kill('SIGINT');
  t.same(await interrupted, [0, null], 'a sink that cannot deliver drains at Ctrl-C');
  t.equal(readLockHolder(data), undefined);
  t.match(await trawl.run('sinks', 'ls', '--data', data), { code: 0, stdout: /near +ndjson +stopped / });

  t.match(await trawl.run('runs', 'rm', 'tuesday', '--data', data), { code: 2, stderr: /holds run monday/ });
  t.match(await trawl.run('runs', 'rm', 'monday'), { code: 0, stdout: /Run monday is removed, with / });
  t.notOk(existsSync(data));
  t.match(await trawl.run('runs', 'rm', 'monday'), { code: 3 }, 'only a cluster could have it now');
});

t.test('of a run that goes on', { timeout: 90_000 }, async (t) => {
  const data = join(trawl.home, 'single/friday');
  const words = ['--single', '--urls-file', listOf('x', 'slow'), '--run-id', 'friday'];
  const child = trawl.start('run', 'near', ...words);
  t.teardown(async () => {
    await killHard(child);
    await trawl.run('down', '--clean', '--home', data);
  });
  await untilSo(
    async () => (await trawl.run('stats', 'friday', '--json')).stdout,
    (text) => /"done": 1\b/.test(text),
    40_000,
  );
  t.match(await trawl.json('aggregate', 'friday'), { total: { tasks: 2, done: 1, queued: 1 } });
  const sink = ['sink', 'goes', '--type', 'ndjson', '--path', out, '--run', 'friday', '--until-empty'];
  t.match(await trawl.run(...sink), { code: 0 });
  t.match(
    ndjsonOf(out, '.ndjson').filter(({ run }) => run === 'friday'),
    [{ item: { key: 'x' } }, { kind: 'note' }],
  );
  t.match(await trawl.run('runs', 'ls', '--single'), { stdout: /friday +near +active / });
  t.match(await trawl.run('runs', 'rm', 'friday'), { code: 1, stderr: /another process works on .*friday/ });
  await killHard(child);
  t.equal(readLockHolder(data), undefined);
  t.match(await trawl.run('runs', 'ls', '--single'), { stdout: /friday +near +interrupted / });
  t.match(await trawl.run('runs', 'rm', 'friday'), { code: 0 }, 'with the server that was left behind');
  t.notOk(existsSync(data));
});
