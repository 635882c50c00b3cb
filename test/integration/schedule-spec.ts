/** Schedules on a real server: what we accept it accepts, it fires in time, and it plans the times that we show. */
import { headers } from '@nats-io/transport-node';
import t from 'tap';
import { join } from 'node:path';
import { readTopologyFiles } from '../../src/nats/apply-topology.ts';
import { decideDue, dueTimeOf, nextTimes, runOf } from '../../src/policy/schedule-due.ts';
import { parseSchedule, scheduleHeaders, type ScheduleSpec } from '../../src/policy/schedule-spec.ts';
import { createZone } from '../../src/policy/time-zone.ts';
import { projectRoot } from '../../src/project-root.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const random = createRandom(chooseSeed());
t.comment(`seed ${random.seed}`);
const server = await startNatsServer(t);
const connection = await server.connect();
const { jsm, js } = connection;
const definition = readTopologyFiles(join(projectRoot, 'nats')).streams.find(
  ({ name }) => name === 'SCHEDULES',
);
await jsm.streams.add(definition as unknown as Parameters<typeof jsm.streams.add>[0]);
await jsm.consumers.add('SCHEDULES', {
  durable_name: 'due',
  filter_subject: 'trawl.due.*',
  ack_policy: 'explicit',
});
t.afterEach(() => jsm.streams.purge('SCHEDULES'));

t.test('an interval of a second fires, each second at most once, and is one run each', async (t) => {
  const spec = specOf({ every: '1s' });
  t.equal(await put(spec), undefined);
  const fired = await take(3);
  const dueTimes = fired.map((each) => dueTimeOf(spec, each));
  for (const [i, dueAt] of dueTimes.entries()) {
    t.equal(dueAt % 1000, 0, 'a whole second');
    t.ok(dueAt > (dueTimes[i - 1] ?? 0), 'each later than the one before');
    t.ok(Math.abs((fired[i]?.firedAt ?? 0) - dueAt) < 1_500, 'fired when it was planned');
  }
  const runs = dueTimes.map((dueAt) => runOf(spec.name, dueAt));
  t.equal(new Set(runs).size, 3);
});

t.test('of the times that nobody took, the last one stays', async (t) => {
  await put(specOf({ every: '1s' }));
  const consumer = await js.consumers.get('SCHEDULES', 'due');
  // Not acknowledged: it is the server that takes it away when the next one comes.
  const [held, next] = [await consumer.next(), await consumer.next()];
  t.ok(held && next && next.seq > held.seq);
  t.equal(
    (await jsm.streams.info('SCHEDULES', { subjects_filter: 'trawl.due.*' })).state.subjects?.[
      'trawl.due.test'
    ],
    1,
  );
  next?.ack();
});

t.test('a crash of the server gives no time a second run', async (t) => {
  const spec = specOf({ cron: '*/2 * * * * *' });
  await put(spec);
  const before = await take(2);
  const upAgain = untilUp();
  await server.kill('SIGKILL');
  await server.start();
  await upAgain;
  const seen = [...before, ...(await take(2))].map((fired) => dueTimeOf(spec, fired));
  const runs: string[] = [];
  let lastDueAt: number | undefined;
  for (const dueAt of seen) {
    const decision = decideDue({ spec, dueAt, lastDueAt, now: dueAt, runsOpen: [] });
    lastDueAt = decision.dueAt;
    if (decision.action === 'fire') runs.push(decision.run);
  }
  t.equal(new Set(runs).size, runs.length);
  t.ok(runs.length >= 3, `${seen.join()} → ${runs.join()}`);
});

t.test('whatever we accept, the server accepts', async (t) => {
  const given = [
    ...[{}, { every: '1s' }, { every: '366d' }, { every: '1d1h1m1s' }],
    ...[
      '* * * * *',
      '@yearly',
      '@hourly',
      '0 0 29 2 *',
      '0 0 ? jan-MAR,12 mon,wed',
      '55/2 */7 1-5/2 1,15 * *',
    ].map((cron) => ({ cron })),
    ...['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/Argentina/Ushuaia'].map(
      (timeZone) => ({ cron: '30 2 * * *', timeZone }),
    ),
  ];
  for (const settings of given) t.equal(await put(specOf(settings)), undefined, JSON.stringify(settings));
});

t.test('fields at random: where we say no the server need not, but never the other way round', async (t) => {
  let accepted = 0;
  for (let round = 0; round < 300; round += 1) {
    const pattern = Array.from({ length: 6 }, () => randomText(random)).join(' ');
    const parsed = parseSchedule({ name: 'test', scraper: 's', cron: pattern }, Date.now());
    if (!parsed.ok) continue;
    accepted += 1;
    const problem = await put(parsed.spec);
    if (problem !== undefined) t.fail(`${pattern}: ${problem}`);
  }
  t.ok(accepted > 20, `${accepted} accepted`);
});

t.test('the server plans the times that we show', async (t) => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'America/Santiago',
  ];
  // All of them are due in the same second, and then at a time of their own, which the server tells when it fires.
  const dueAt = Math.ceil(Date.now() / 1000) * 1000 + 5_000;
  const specs = Array.from({ length: 240 }, (_, i) =>
    specOf({
      name: `t${i}`,
      cron: patternFor(dueAt, zones[i % zones.length] ?? 'UTC'),
      timeZone: zones[i % zones.length],
    }),
  );
  const refusals = await Promise.all(specs.map(put));
  t.same(new Set(refusals), new Set([undefined]));
  t.ok(Date.now() < dueAt - 500, 'all were stored in time');

  const fired = await take(specs.length);
  for (const { name, nextAt } of fired) {
    const spec = specs.find((each) => each.name === name);
    if (!spec) throw new Error(name);
    const [shown = 0] = nextTimes(spec, { from: dueAt, count: 1 });
    const pattern = JSON.stringify(scheduleHeaders(spec, ''));
    t.equal(new Date(shown).toISOString(), new Date(nextAt).toISOString(), pattern);
    t.equal(dueTimeOf(spec, { firedAt: dueAt, nextAt }), dueAt, pattern);
  }
});

interface Fired {
  readonly name: string;
  readonly firedAt: number;
  readonly nextAt: number;
}

/** The next firings, acknowledged. */
async function take(count: number): Promise<Fired[]> {
  const consumer = await js.consumers.get('SCHEDULES', 'due');
  const taken: Fired[] = [];
  while (taken.length < count) {
    const message = await consumer.next({ expires: 30_000 });
    if (!message) throw new Error(`only ${taken.length} of ${count} fired`);
    await message.ackAck();
    taken.push({
      name: message.subject.split('.').at(-1) ?? '',
      firedAt: message.time.getTime(),
      nextAt: Date.parse(message.headers?.get('Nats-Schedule-Next') ?? ''),
    });
  }
  return taken;
}

/** The server's refusal, or undefined. */
async function put(spec: ScheduleSpec): Promise<string | undefined> {
  const message = headers();
  for (const [key, value] of Object.entries(scheduleHeaders(spec, `trawl.due.${spec.name}`)))
    message.set(key, value);
  return js.publish(`trawl.schedule.${spec.name}`, '{}', { headers: message }).then(() => undefined, String);
}

function untilUp(): Promise<void> {
  return new Promise((resolve) => {
    const undo = connection.onChange((up) => {
      if (!up) return;
      undo();
      resolve();
    });
  });
}

function specOf(settings: object): ScheduleSpec {
  const parsed = parseSchedule({ name: 'test', scraper: 's', ...settings }, Date.now());
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.spec;
}

/** A pattern that fits this second of this zone, and others that the dice choose. */
function patternFor(dueAt: number, timeZone: string): string {
  const { second, minute, hour, day, month, weekday } = createZone(timeZone).localTime(dueAt);
  const around = (value: number, { min, max }: { min: number; max: number }): string =>
    random.pick([
      String(value),
      String(value),
      `${value},${random.int(min, max)}`,
      `${random.int(min, value)}-${random.int(value, max)}`,
      '*',
    ]);
  return [
    second,
    random.chance(0.5) ? minute : around(minute, { min: 0, max: 59 }),
    around(hour, { min: 0, max: 23 }),
    around(day, { min: 1, max: 31 }),
    around(month, { min: 1, max: 12 }),
    random.pick(['*', '*', String(weekday), `${random.int(0, weekday)}-${random.int(weekday, 6)}`]),
  ].join(' ');
}

/** Mostly what a field may hold, now and then what it may not. */
function randomText(random: Random): string {
  const number = (): string => String(random.int(0, random.pick([7, 13, 31, 60])));
  const words = random.pick(['jan', 'MON', 'dec', 'sun', 'x']);
  const one = random.pick([
    '*',
    '?',
    number(),
    number(),
    `${number()}-${number()}`,
    random.chance(0.1) ? words : '1',
  ]);
  const stepped = random.chance(0.2) ? `${one}/${random.int(0, 12)}` : one;
  return random.chance(0.1) ? `${stepped},${number()}` : stepped;
}
