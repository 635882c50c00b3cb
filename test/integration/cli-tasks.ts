/** The commands that hand tasks in, as a child process, on a real server, with a coordinator that answers as agreed. */
import t from 'tap';
import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import { counts, startStubCoordinator } from '../kit/stub-coordinator.ts';
import { installTrawl } from '../kit/trawl.ts';

const server = await startNatsServer(t);
const stub = await startStubCoordinator(t, server);
const trawl = await installTrawl(t, { NATS_URL: server.url });
const folder = temporaryFolder(t);

const lastAsked = (verb: string): object | undefined =>
  stub.asked.filter((each) => each.verb === verb).at(-1)?.body;

function writeFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

t.test('run prints the four keys, and nothing else', async (t) => {
  const file = writeFile(
    'urls.txt',
    '\uFEFFhttps://a.example/1\r\n\n# a comment\n  https://a.example/2\n{"url":"https://a.example/3","n":1}',
  );
  const answer = await trawl.json<object>(
    'run',
    'prices',
    '--urls-file',
    file,
    '--run-id',
    'r_1',
    '--priority',
    '3',
  );
  t.same(answer, {
    status: 'queued',
    run_id: 'r_1',
    enqueued: 3,
    worker_command: 'npx trawl worker --scraper prices --run-id r_1',
  });
  t.same(Object.keys(answer), ['status', 'run_id', 'enqueued', 'worker_command']);
  t.match(lastAsked('run.create'), { scraper: 'prices', run: 'r_1', priority: 3 });
  t.match(lastAsked('run.seal'), { run: 'r_1', messages: 1 });
  const message = await stub.connection.jsm.streams.getMessage('INTAKE', {
    last_by_subj: 'trawl.submit.prices.r_1',
  });
  t.equal(message?.string(), 'https://a.example/1\nhttps://a.example/2\n{"url":"https://a.example/3","n":1}');

  t.equal(message?.header.get('Trawl-Drop-Tracking'), '', 'addresses are as they are written');
  await trawl.json('run', 'prices', '--urls-file', file, '--run-id', 'r_2', '--drop-tracking');
  const cleaned = await stub.connection.jsm.streams.getMessage('INTAKE', {
    last_by_subj: 'trawl.submit.prices.r_2',
  });
  t.equal(cleaned?.header.get('Trawl-Drop-Tracking'), 'true');

  const { code, stdout, stderr } = await trawl.run('run', 'prices', '--urls-file', file);
  t.equal(code, 0);
  t.match(stdout, /^Run 20260131_080000: 3 tasks are queued\.\n.*trawl watch 20260131_080000/);
  t.equal(stderr, '', 'quiet in a pipe');

  const empty = await trawl.json<object>('run', 'prices', '--urls-file', '-'); // there is nothing on stdin here
  t.match(empty, { status: 'queued', enqueued: 0 });

  const missing = await trawl.run('run', 'prices', '--urls-file', join(folder, 'nothing'));
  t.equal(missing.code, 2);
  t.match(missing.stderr, /^trawl: .*nothing cannot be read: ENOENT/);
  t.notMatch(missing.stderr, /\n\s+at /, 'no stack');
});

t.test('run --wait ends with the run: 0, or 4 when tasks are dead', async (t) => {
  const file = writeFile('wait.txt', 'https://a.example/1\n');
  const show = (state: string, dead: number): void =>
    stub.on('run.show', ({ run }) => ({
      ...{ id: run, scraper: 'prices', state, priority: 0, createdAt: 1, standing: false },
      counts: counts({ total: 3, done: 3 - dead, dead }),
    }));
  show('done', 0);
  const good = await trawl.run('run', 'prices', '--urls-file', file, '--wait');
  t.equal(good.code, 0);
  t.match(good.stdout, /^Run \S+ has ended \(done\): 3 done, 0 dead\.\n$/);
  show('done_with_errors', 1);
  const bad = await trawl.run('run', 'prices', '--urls-file', file, '--wait', '--json');
  t.equal(bad.code, 4);
  t.match(JSON.parse(bad.stdout), { status: 'done_with_errors', enqueued: 1 });

  const watched = await trawl.run('watch', 'friday');
  t.equal(watched.code, 4);
  t.match(watched.stdout, /^friday done_with_errors total=3 .*dead=1 cancelled=0\nRun friday has ended/);
  const lines = await trawl.run('watch', 'friday', '--json');
  t.match(JSON.parse(lines.stdout), { run: 'friday', state: 'done_with_errors', counts: { dead: 1 } });
});

t.test('a hundred thousand long lines need little memory', async (t) => {
  const path = join(folder, 'many.txt');
  const file = createWriteStream(path);
  const tail = 'x'.repeat(900);
  for (let i = 0; i < 100_000; i += 1)
    if (!file.write(`https://a.example/${i}/${tail}\n`)) await once(file, 'drain');
  await once(file.end(), 'close');

  const child = trawl.start('run', 'prices', '--urls-file', path, '--run-id', 'many', '--json');
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const over = once(child, 'close') as Promise<[number | null]>;
  let mostMb = 0;
  const enough = new AbortController();
  const sampling = (async () => {
    while (!enough.signal.aborted) {
      mostMb = Math.max(mostMb, peakMb(child.pid ?? 0));
      await delay(20, undefined, { signal: enough.signal }).catch(() => undefined);
    }
  })();
  const [code] = await over;
  enough.abort();
  await sampling;
  t.equal(code, 0);
  t.match(JSON.parse(said), { enqueued: 100_000 });
  t.ok(mostMb > 0 && mostMb < 300, `${mostMb} MB at most`);
  await stub.connection.jsm.streams.purge('INTAKE');
});

t.test('submit answers for each task, by its exit code too', async (t) => {
  stub.on('submit', ({ run, tasks }) => {
    const list = tasks as unknown[];
    return {
      run: run ?? 'default-prices',
      tasks: list.filter((task) => task !== 'x').map((_, i) => ({ id: `id${i}`, duplicate: i === 1 })),
      problems: list.flatMap((task, index) => (task === 'x' ? [{ index, reason: 'not a URL' }] : [])),
    };
  });
  t.match(await trawl.json('submit', 'prices', 'https://a.example/', '--run', '20260131_080000'), {
    run: '20260131_080000',
    id: 'id0',
    duplicate: false,
  });
  const mixed = await trawl.run('submit', 'prices', 'https://a.example/', 'https://a.example/', 'x');
  t.equal(mixed.code, 1);
  t.equal(
    mixed.stdout,
    'id0  queued\nid1  known already\ntask 3 refused: not a URL  (x)\nRun default-prices: 1 queued, 1 known already, 1 refused.\n',
  );
  await trawl.json('submit', 'prices', 'https://a.example/?gclid=1', '--drop-tracking');
  t.match(lastAsked('submit'), { dropTracking: true, tasks: ['https://a.example/?gclid=1'] });
  const keyed = await trawl.run('submit', 'prices', '--key', 'k1', '--not-before', '2030-01-01T00:00:00Z');
  t.equal(keyed.code, 0);
  t.match(lastAsked('submit'), { tasks: [{ key: 'k1', notBefore: '2030-01-01T00:00:00Z' }] });
  const wrong: [RegExp, ...string[]][] = [
    [/nothing to submit/],
    [/nothing to submit/, '--file', '-'],
    [/--priority must be a whole number from 0 to 9, not 10/, 'https://a.example/', '--priority', '10'],
    [/--key names one task, but there are 2/, 'a', 'b', '--key', 'k'],
    [/--run takes one value, not 2/, 'a', '--run', 'a', '--run', 'b'],
  ];
  for (const [reason, ...words] of wrong) {
    const { code, stderr } = await trawl.run('submit', 'prices', ...words);
    t.equal(code, 2, words.join(' '));
    t.match(stderr, reason);
  }
});

/** The most memory that a process has had, where the system tells. */
function peakMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
