/** The commands that look after runs, dead tasks and schedules, as a child process, on a real server, with a coordinator that answers as agreed. */
import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { counts, startStubCoordinator } from '../kit/stub-coordinator.ts';
import { installTrawl } from '../kit/trawl.ts';

const server = await startNatsServer(t);
const stub = await startStubCoordinator(t, server);
const trawl = await installTrawl(t, { NATS_URL: server.url });

const lastAsked = (verb: string): object | undefined =>
  stub.asked.filter((each) => each.verb === verb).at(-1)?.body;

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
