/** The commands for tasks, as a child process, on a real server, with a coordinator that answers as agreed. */
import t from 'tap';
import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../src/domain/failure.ts';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import { counts, recordOf, startStubCoordinator } from '../kit/stub-coordinator.ts';
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

/** The most memory that a process has had, where the system tells. */
function peakMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

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

t.test('results as NDJSON and CSV', async (t) => {
  await stub.putRun({ id: 'res' });
  await stub.write('res', [
    recordOf('a', 'res', {
      items: [
        { name: 'say "hi"', price: 1 },
        { name: 'x,y', price: 2, extra: true },
      ],
    }),
    recordOf('b', 'res', { error: 'too slow' }),
    recordOf('c', 'res', { items: [] }),
    recordOf('d', 'res', 'queued'),
  ]);
  const lines = (await trawl.run('results', 'res')).stdout.trim().split('\n');
  t.same(
    lines.map((line) => JSON.parse(line) as unknown),
    [
      { name: 'say "hi"', price: 1 },
      { name: 'x,y', price: 2, extra: true },
    ].map((item) => ({
      ...{ task: 'a', run: 'res', state: 'done', url: 'https://shop.example/a' },
      item,
    })),
  );
  const csv = await trawl.run('results', 'res', '--format', 'csv');
  t.equal(
    csv.stdout,
    'task_id,task_url,name,price\r\na,https://shop.example/a,"say ""hi""",1\r\na,https://shop.example/a,"x,y",2\r\n',
  );
  t.match(csv.stderr, /1 items have fields that the first one lacks \(extra\)/);
  const dead = await trawl.run('results', 'res', '--state', 'dead', '--format', 'csv');
  t.equal(
    dead.stdout,
    'task_id,state,task_url,error_code,error\r\nb,dead,https://shop.example/b,TIMEOUT,too slow\r\n',
  );
  t.equal((await trawl.run('results', 'res', '--state', 'all')).stdout.trim().split('\n').length, 4);

  const followed = trawl.run('results', 'res', '--follow', '--state', 'all');
  await stub.write('res', [recordOf('d', 'res', { items: [5] })]);
  await stub.putRun({ id: 'res', state: 'done_with_errors' });
  t.match((await followed).stdout, /"task":"d".*"item":5/);

  const none = await trawl.run('results', 'nowhere');
  t.equal(none.code, 2);
  t.equal(none.stderr, 'trawl: there is no run nowhere\n`trawl runs ls` lists the runs.\n');
});

t.test('whoever has read enough of the results may go', async (t) => {
  await stub.putRun({ id: 'long' });
  const item = 'x'.repeat(1_000);
  for (let from = 0; from < 20_000; from += 1_000)
    await stub.write(
      'long',
      Array.from({ length: 1_000 }, (_, i) => recordOf(`t${from + i}`, 'long', { items: [item] })),
    );
  const child = trawl.start('results', 'long');
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const over = once(child, 'close') as Promise<[number | null, string | null]>;
  if (child.stdout) {
    await once(child.stdout, 'data');
    child.stdout.destroy();
  }
  t.same(await over, [0, null]);
  t.equal(said, '');
});

t.test('runs, stats, why, cancel and pause', async (t) => {
  const run = {
    id: 'friday',
    scraper: 'prices',
    state: 'active',
    priority: 0,
    createdAt: Date.now(),
    standing: false,
  };
  const friday = { ...run, counts: counts({ total: 1_234, done: 1_000, remaining: 234 }) };
  stub.on('run.list', () => ({ runs: [friday] }));
  stub.on('run.show', () => friday);
  stub.on('run.remove', () => ({ removed: 1_234 }));
  t.match(
    (await trawl.run('runs', 'ls', '--state', 'active')).stdout,
    /^RUN.*\nfriday +prices +active +1,234 +1,000/,
  );
  t.same(lastAsked('run.list'), { state: 'active' });
  t.match((await trawl.run('runs', 'show', 'friday')).stdout, /state +active[\s\S]*total +1,234/);
  t.match((await trawl.run('runs', 'rm', 'friday')).stdout, /friday is removed, with 1,234 records/);
  t.equal((await trawl.run('runs', 'show')).code, 2);

  stub.on('stats', () => ({ ...counts({ total: 7 }), workers: { active: 2, total: 3 } }));
  t.match((await trawl.run('stats')).stdout, /total +7[\s\S]*2 of 3 workers/);

  const story = { id: 't1', run: 'friday', url: 'https://a.example/', where: 'deferred' };
  const fault = { at: '2026-01-31T08:00:00.000Z', code: 'TIMEOUT', message: 'too slow', worker: 'w1', ms: 5 };
  stub.on('why', () => ({ ...story, explanation: ['It waits for its next attempt.'], faults: [fault] }));
  t.match(
    (await trawl.run('why', 't1', '--run', 'friday')).stdout,
    /^The task is deferred\.\nIt waits for its next attempt\.[\s\S]*TIMEOUT +w1 +too slow/,
  );
  t.same(lastAsked('why'), { id: 't1', run: 'friday' });

  stub.on('run.cancel', () => ({ ...run, state: 'cancelled' }));
  t.equal((await trawl.run('cancel', 'friday')).stdout, 'Run friday is cancelled.\n');
  stub.on('task.cancel', () => ({ cancelled: false, state: 'done' }));
  const late = await trawl.run('cancel', 'friday', 't1');
  t.equal(late.code, 1);
  t.match(late.stdout, /not cancelled: it is done/);

  stub.on('pause', ({ kind, name }) => ({ paused: [{ kind, name }] }));
  stub.on('run.resume', () => run);
  t.equal((await trawl.run('pause', 'host', 'shop.example')).stdout, 'host shop.example is paused.\n');
  t.equal((await trawl.run('resume', 'run', 'friday')).stdout, 'run friday is going on.\n');
  t.equal((await trawl.run('pause', 'scraper')).code, 2);
});

t.test('dead tasks are listed, put back and dropped', async (t) => {
  stub.on('dead.list', () => ({
    count: 2,
    groups: [{ code: 'TIMEOUT', message: 'too slow', count: 2 }],
    tasks: [{ id: 't1', run: 'friday', task: { url: 'https://a.example/' } }],
  }));
  t.match(
    (await trawl.run('dead', 'ls', '--since', '1h')).stdout,
    /^2 dead tasks\.\n\nCOUNT +CODE +MESSAGE\n2 +TIMEOUT +too slow[\s\S]*t1 +friday +https:\/\/a\.example\/[\s\S]*\(1 more\)/,
  );
  t.match(lastAsked('dead.list'), { sinceMs: 3_600_000, limit: 20 });

  stub.on('dead.retry', ({ dryRun, limit }) => ({ matched: 2_500, changed: dryRun === true ? 0 : limit }));
  t.match(await trawl.json('dead', 'retry', '--run', 'friday'), { matched: 2_500, changed: 2_500 });
  t.equal(
    (await trawl.run('dead', 'retry', '--run', 'friday', '--dry-run')).stdout,
    '2,500 dead tasks would be put back.\n',
  );
  await trawl.run('dead', 'retry', '--run', 'friday', '--limit', '60', '--rate', '10');
  t.same(lastAsked('dead.retry'), { run: 'friday', limit: 60, perSecond: 10 });
  await trawl.run('dead', 'retry', 't1');
  t.match(lastAsked('dead.retry'), { id: 't1' });
  const bare = await trawl.run('dead', 'drop');
  t.equal(bare.code, 2);
  t.match(bare.stderr, /which dead tasks are to be dropped/);
});

t.test('schedules', async (t) => {
  stub.on('schedule.add', (spec) => spec);
  stub.on('schedule.pause', () => ({ ok: true }));
  stub.on('schedule.list', () => ({
    schedules: [{ name: 'hourly', scraper: 'prices', every: '1h', paused: true }],
  }));
  const added = [
    'schedule',
    'add',
    'hourly',
    '--scraper',
    'prices',
    '--every',
    '1h',
    '--url',
    'https://a.example/',
  ];
  t.equal((await trawl.run(...added, '--no-now', '--params', '{"n":1}')).stdout, 'Schedule hourly is set.\n');
  t.same(lastAsked('schedule.add'), {
    ...{ name: 'hourly', scraper: 'prices', every: '1h', urls: ['https://a.example/'], now: false },
    params: { n: 1 },
  });
  t.match((await trawl.run('schedule', 'ls')).stdout, /hourly +prices +every 1h +paused/);
  t.equal((await trawl.run('schedule', 'pause', 'hourly')).stdout, 'Schedule hourly is paused.\n');
  const wrong = await trawl.run('schedule', 'add', 'x', '--every', 'soon', '--url', 'ftp://a');
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, /scraper is missing[\s\S]*every must be/, 'all mistakes at once');
});

t.test('failures are told in words, or as JSON', async (t) => {
  stub.on('stats', () => {
    throw new Failure('CONFLICT', 'somebody else was first', { hint: 'Look again.' });
  });
  const words = await trawl.run('stats');
  t.equal(words.code, 1);
  t.equal(words.stderr, 'trawl: somebody else was first\nLook again.\n');
  const json = await trawl.run('stats', '--json');
  t.same(JSON.parse(json.stdout), {
    error: { code: 'CONFLICT', message: 'somebody else was first', hint: 'Look again.' },
  });
  const alone = await trawl.run('stats', '--namespace', 'other');
  t.equal(alone.code, 3);
  t.match(alone.stderr, /no coordinator answers/);
});
