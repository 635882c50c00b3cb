/** Schedules on a real server: several coordinators, deaths between two steps, and a server that is killed. */
import t, { type Test } from 'tap';
import type { ScheduleNews } from '../../src/actors/coordinator/schedule-ports.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { parseSchedule, type ScheduleSpec } from '../../src/policy/schedule-spec.ts';
import { scheduleKey } from '../../src/wire/schedule-record.ts';
import {
  createScheduleCoordinator,
  makeStreams,
  readIntake,
  type ScheduleCoordinator,
} from '../kit/schedule-coordinator.ts';
import { startNatsServer, type Teardown, type TestServer } from '../kit/nats-server.ts';

async function startWorld(t: Teardown, ackWaitMs?: number): Promise<TestServer> {
  const server = await startNatsServer(t);
  const connection = await server.connect();
  await makeStreams(connection, ackWaitMs);
  return server;
}

const firedIn = (news: readonly ScheduleNews[]): string[] =>
  news.flatMap((each) => (each.kind === 'fired' ? [each.run] : []));

/** Each run that was announced is there, sealed, with one message in the intake; and there is no other. */
async function checkRuns(t: Test, coordinator: ScheduleCoordinator, fired: string[]): Promise<void> {
  const runs = (await coordinator.runs.list()).map(({ run }) => run);
  const intake = await readIntake(coordinator.connection);
  t.equal(new Set(fired).size, fired.length, 'none was fired twice');
  t.same(runs.map(({ id }) => id).sort(), [...fired].sort());
  t.same([...intake.keys()].sort(), [...fired].sort());
  for (const run of runs) {
    t.equal(intake.get(run.id)?.length, 1, `one message for ${run.id}`);
    t.same(run.sealed, { messages: 1 });
  }
}

t.test('two coordinators, one schedule of a second: each time one run', async (t) => {
  const server = await startWorld(t);
  const [a, b] = [await createScheduleCoordinator(t, server), await createScheduleCoordinator(t, server)];
  const stops = [a.start(), b.start()];
  const definition = {
    name: 'fast',
    scraper: 'shop',
    every: '1s',
    priority: 4,
    overlap: 'queue',
    params: { depth: 1 },
  };
  await a.ask('add', definition);
  await a.heard(() => a.news.length + b.news.length >= 5);
  await a.ask('pause', { name: 'fast' });
  await Promise.all(stops.map((stop) => stop()));
  const fired = firedIn([...a.news, ...b.news]);
  await checkRuns(t, a, fired);
  const [submission] = (await readIntake(a.connection)).get(fired[0] ?? '') ?? [];
  t.same(submission?.problems, []);
  t.match(submission?.requests, [{ key: fired[0], input: { depth: 1 }, priority: 4, scraper: 'shop' }]);
});

t.test('both of them take their share, and neither is needed', async (t) => {
  const server = await startWorld(t);
  const [a, b] = [await createScheduleCoordinator(t, server), await createScheduleCoordinator(t, server)];
  const stopA = a.start();
  await a.ask('add', { name: 'fast', scraper: 's', every: '1s', overlap: 'queue', now: false });
  await a.heard((news) => news.length >= 1);
  await stopA();
  b.start();
  await b.heard((news) => news.length >= 2);
  await a.ask('pause', { name: 'fast' });
  t.equal(new Set(firedIn([...a.news, ...b.news])).size, a.news.length + b.news.length);
});

t.test('a coordinator that dies between the submission and the acknowledgement', async (t) => {
  const server = await startWorld(t, 1_000);
  const died = new Promise<Connection>((resolve) => {
    void createScheduleCoordinator(t, server, async (submit, _, connection) => {
      await submit();
      await connection.close();
      resolve(connection);
    }).then((dying) => dying.start());
  });
  const b = await createScheduleCoordinator(t, server);
  await b.ask('add', { name: 'daily', scraper: 's', cron: inSeconds(2), now: false });
  await died;
  t.equal((await b.runs.list()).length, 0, 'it left a submission and no run');
  b.start();
  await b.heard((news) => news.length >= 1);
  await checkRuns(t, b, firedIn(b.news));
});

t.test('the server is killed: the schedules go on, and no time has two runs', async (t) => {
  const server = await startWorld(t, 2_000);
  const [a, b] = [await createScheduleCoordinator(t, server), await createScheduleCoordinator(t, server)];
  a.start();
  b.start();
  const all = (): readonly ScheduleNews[] => [...a.news, ...b.news];
  const heard = (count: number): Promise<unknown> => {
    const enough = (): boolean =>
      ['pattern', 'interval'].every(
        (name) => all().filter(({ schedule }) => schedule === name).length >= count,
      );
    return Promise.race([a.heard(enough), b.heard(enough)]);
  };
  await a.ask('add', { name: 'pattern', scraper: 's', cron: '* * * * * *', overlap: 'queue' });
  await a.ask('add', { name: 'interval', scraper: 's', every: '1s', overlap: 'queue' });
  await heard(3);
  await server.kill('SIGKILL');
  await server.start();
  await heard(all().length + 3);
  for (const name of ['pattern', 'interval']) await a.ask('pause', { name });
  const fired = firedIn(all());
  t.equal(new Set(fired).size, fired.length, fired.join());
  const intake = await readIntake(a.connection);
  t.same(
    [...intake.values()].filter((messages) => messages.length > 1),
    [],
  );
});

t.test('one that is corrupt harms no other', async (t) => {
  const server = await startWorld(t);
  const a = await createScheduleCoordinator(t, server);
  for (const name of ['one', 'two', 'three'])
    await a.ask('add', { name, scraper: 's', cron: inSeconds(3), now: false });
  await a.bucket.put(scheduleKey('two'), new TextEncoder().encode('{"definition":'));
  a.start();
  await a.heard((news) => news.length >= 3);
  t.same(a.news.map(({ schedule, kind }) => `${schedule} ${kind}`).sort(), [
    'one fired',
    'three fired',
    'two broken',
  ]);
  const { schedules } = await a.ask('list');
  t.match(schedules, [{ name: 'one' }, { name: 'three' }, { name: 'two', problem: /JSON/ }]);
});

t.test('due while the last run is open: left out or in line', async (t) => {
  const server = await startWorld(t);
  const a = await createScheduleCoordinator(t, server);
  a.start();
  await a.ask('add', { name: 'skip', scraper: 's', every: '1s', overlap: 'skip' });
  await a.ask('add', { name: 'queue', scraper: 's', every: '1s', overlap: 'queue' });
  const of = (schedule: string, kind: string): number =>
    a.news.filter((each) => each.schedule === schedule && each.kind === kind).length;
  await a.heard(() => of('skip', 'skipped') >= 2 && of('queue', 'fired') >= 3);
  t.equal(of('skip', 'fired'), 1);
  t.equal(of('queue', 'skipped'), 0);
  const [first] = (await a.runs.list()).filter(({ run }) => run.id.startsWith('skip-'));
  await a.runs.change(first?.run.id ?? '', (run) => ({ ...run, state: 'done' }));
  await a.heard(() => of('skip', 'fired') >= 2);
  for (const name of ['skip', 'queue']) await a.ask('remove', { name });
});

t.test('made, shown, replaced, paused, resumed, fired by hand, removed', async (t) => {
  const server = await startWorld(t);
  const a = await createScheduleCoordinator(t, server);
  const plannedNames = async (): Promise<string[]> => [...(await a.schedules.planned()).keys()];
  const urls = ['https://a.example/1', 'https://a.example/2'];
  const before = Date.now();
  const made = await a.ask('add', { name: 'shop', scraper: 's', every: '1h', urls });
  t.match(made, {
    name: 'shop',
    scraper: 's',
    every: '1h',
    urls: 2,
    paused: false,
    run: /^shop-\d{8}T\d{6}Z$/,
  });
  const nextAt = Number(made['nextAt']);
  t.ok(nextAt >= before + 3_598_000 && nextAt <= Date.now() + 3_601_000, 'an hour from now');
  t.same(await plannedNames(), ['shop']);
  t.equal((await readIntake(a.connection)).get(String(made['run']))?.[0]?.requests.length, 2);

  await a.ask('add', { name: 'shop', scraper: 's', cron: '0 0 * * *', timeZone: 'Europe/Rome', now: false });
  t.match(await a.ask('list'), {
    schedules: [{ name: 'shop', cron: '0 0 * * *', timeZone: 'Europe/Rome', urls: 0 }],
  });
  t.equal((await a.runs.list()).length, 1, 'no first run this time');

  t.match(await a.ask('pause', { name: 'shop' }), { paused: true, nextTimes: [] });
  t.same(await plannedNames(), []);
  const { run } = await a.ask('now', { name: 'shop' });
  t.match(run, /^shop-\d{8}T\d{6}Z-[a-z0-9]{6}$/);
  t.notSame((await a.ask('now', { name: 'shop' }))['run'], run);
  t.match(await a.ask('resume', { name: 'shop' }), { paused: false });
  t.same(await plannedNames(), ['shop']);
  t.match(await a.ask('resume', { name: 'shop' }), { paused: false }, 'again');

  t.match(await a.ask('remove', { name: 'shop' }), { removed: true });
  t.same([await plannedNames(), await a.ask('list')], [[], { schedules: [] }]);
  for (const verb of ['remove', 'now', 'pause', 'resume'])
    await t.rejects(a.ask(verb, { name: 'shop' }), { code: 'INVALID', message: 'there is no schedule shop' });
  t.match(
    await a.ask('add', { name: 'shop', scraper: 's', now: false, paused: true }),
    { paused: true },
    'anew',
  );
  t.same(await plannedNames(), []);
});

t.test('what could never be carried out is refused, with all that is wrong', async (t) => {
  const server = await startWorld(t);
  const a = await createScheduleCoordinator(t, server);
  const good = { name: 'x', scraper: 's' };
  await t.rejects(a.ask('add', { ...good, every: 'often', cron: 'never' }), {
    code: 'INVALID',
    message: /every.*cron/,
  });
  const urls = Array.from({ length: 5_000 }, (_, i) => `https://a.example/${i}`);
  await t.rejects(a.ask('add', { ...good, urls, params: { text: 'x'.repeat(300) } }), {
    message: /bytes: at most/,
  });
  await t.rejects(a.ask('add', { ...good, params: { text: 'x'.repeat(300_000) } }), { message: /262144/ });
  t.same([await a.schedules.list(), (await a.schedules.planned()).size], [[], 0]);
});

t.test('the leader mends what a death left half done', async (t) => {
  const server = await startWorld(t);
  const a = await createScheduleCoordinator(t, server);
  const hourly = { scraper: 's', every: '1h', now: false };
  for (const name of ['lost', 'stale', 'paused', 'orphan']) await a.ask('add', { ...hourly, name });
  await a.schedules.unplan('lost');
  const stored = await a.schedules.get('stale');
  if (!stored?.ok) throw new Error('not stored');
  const definition = { ...stored.record.definition, every: '2h' };
  const firing = { dueAt: 1_000, run: 'stale-19700101T000001Z', startAt: 1_000, reason: 'due' };
  await a.schedules.store('stale', { ...stored.record, definition, firing }, stored.revision);
  await a.ask('pause', { name: 'paused' });
  await a.schedules.plan(specOf({ ...hourly, name: 'paused' }), {}, 0);
  const orphan = await a.bucket.get(scheduleKey('orphan'));
  await a.bucket.purge(scheduleKey('orphan'), { expect: orphan?.revision ?? 0, markerTtlMs: 60_000 });

  const over = new AbortController();
  const duties = a.loop.leaderDuties(over.signal);
  const mended = async (): Promise<boolean> => {
    const planned = await a.schedules.planned();
    return (
      [...planned.keys()].sort().join() === 'lost,stale' && planned.get('stale')?.isOf(definition) === true
    );
  };
  while (!(await mended())) await a.connection.nc.flush();
  over.abort();
  await duties;
  t.same(firedIn(a.news), ['stale-19700101T000001Z']);
  await checkRuns(t, a, firedIn(a.news));
});

/** A pattern for one second of the day, so far from now. */
function inSeconds(seconds: number): string {
  const at = new Date(Date.now() + seconds * 1_000);
  return `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

function specOf(definition: object): ScheduleSpec {
  const parsed = parseSchedule(definition, Date.now());
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.spec;
}
