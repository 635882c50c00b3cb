/** What is checked when a task is submitted, and what a scraper sets up once per worker. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { program } from '../../src/program.ts';
import { guard, temporaryFolder } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';

const places = temporaryFolder(t);
const notes = join(places, 'notes.txt');
mkdirSync(join(places, 'scrapers'));
writeFileSync(
  join(places, 'scrapers/checked.mjs'),
  `import { defineScraper } from 'trawl';
import { appendFileSync } from 'node:fs';
const note = (text) => appendFileSync(${JSON.stringify(notes)}, text + '\\n');
const input = { '~standard': { version: 1, vendor: 'test', validate(value) {
  if (value.page !== undefined && typeof value.page !== 'number')
    return { issues: [{ message: 'must be a number', path: ['page'] }] };
  return { value: { currency: 'USD', ...value } };
} } };
export default defineScraper({
  name: 'checked', retries: 0, input,
  setup() { note('setup'); return { opened: Date.now() }; },
  async run({ input, shared, emit }) {
    if (input.crash) setImmediate(() => { throw new Error('where nobody catches it'); });
    if (input.crash) await new Promise(() => undefined);
    if (input.fail) throw new Error('it fails');
    emit({ ...input, shared: shared.opened > 0 });
  },
  teardown(shared) { note('teardown ' + (shared.opened > 0)); },
});`,
);
const cluster = await startSmallCluster(t, { 'worker.scrapers': join(places, 'scrapers') });
await cluster.start('coordinator', 'c1');

function startWorker(id: string) {
  const words = [
    'worker',
    '--id',
    id,
    '--nats-url',
    cluster.server.url,
    '--scrapers',
    join(places, 'scrapers'),
  ];
  const child = spawn(process.execPath, [program.main, ...words], {
    cwd: places,
    env: { PATH: process.env['PATH'] ?? '', HOME: places },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  guard(child);
  t.teardown(() => void child.kill('SIGKILL'));
  return child;
}

const counts = (run: string): Promise<Record<string, number>> => cluster.call('stats', { run });
const noted = (): string[] =>
  existsSync(notes)
    ? readFileSync(notes, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

t.test('wrong input is refused when it is submitted, by its name', async (t) => {
  const one = cluster.call('submit', { scraper: 'checked', run: 'asked', key: 'a', input: { page: 'x' } });
  await t.rejects(one, { code: 'INVALID', message: 'input.page: must be a number' });
  const many = await cluster.call('submit', {
    scraper: 'checked',
    run: 'asked',
    tasks: [
      { key: 'b', input: { page: 1 } },
      { key: 'c', page: 'x' },
    ],
  });
  t.match(many, { tasks: [{ duplicate: false }], problems: [{ index: 1, reason: /^input\.page/ }] });
});

t.test('where nobody can be answered it is a dead letter with its reason', async (t) => {
  const tasks = [
    { key: 'good', input: { page: 2 } },
    { key: 'bad', input: { page: 'x' } },
  ];
  await cluster.connection.js.publish(cluster.names.submit('checked', 'sent'), JSON.stringify(tasks));
  await untilSo(
    () => counts('sent').catch((): Record<string, number> => ({})),
    ({ dead, queued }) => dead === 1 && queued === 1,
  );
  const { tasks: dead } = await cluster.call<{ tasks: object[] }>('dead.list', { run: 'sent' });
  t.match(dead, [{ code: 'INVALID', message: 'input.page: must be a number', task: { key: 'bad' } }]);
  await cluster.connection.js.publish(
    cluster.names.submit('unknown', 'sent2'),
    '{"key":"a","input":{"page":"x"}}',
  );
  await untilSo(
    () => counts('sent2').catch((): Record<string, number> => ({})),
    ({ queued }) => queued === 1,
  );
});

t.test('set up once, taken down at the end, whatever its tasks did', { timeout: 60_000 }, async (t) => {
  const worker = startWorker('w1');
  const tasks = [
    { key: 'f', input: { fail: true } },
    ...Array.from({ length: 5 }, (_, n) => ({ key: `k${n}` })),
  ];
  await cluster.connection.js.publish(cluster.names.submit('checked', 'life'), JSON.stringify(tasks));
  await untilSo(
    () => counts('life').catch((): Record<string, number> => ({})),
    ({ done, dead }) => done === 5 && dead === 1,
    40_000,
  );
  t.same(noted(), ['setup'], 'once for all of them');
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  t.same(noted(), ['setup', 'teardown true']);
});

t.test('also when a task throws where nobody catches it', { timeout: 60_000 }, async (t) => {
  const worker = startWorker('w2');
  await cluster.connection.js.publish(
    cluster.names.submit('checked', 'crash'),
    JSON.stringify({ key: 'c', input: { crash: true } }),
  );
  const [code] = (await once(worker, 'exit')) as [number | null];
  t.equal(code, 1);
  t.same(noted().slice(2), ['setup', 'teardown true']);
});
