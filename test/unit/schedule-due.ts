import t from 'tap';
import {
  decideDue,
  dueTimeOf,
  findMissed,
  nextTimes,
  runOf,
  type DueDecision,
  type DueFacts,
} from '../../src/policy/schedule-due.ts';
import { parseSchedule, type ScheduleSpec } from '../../src/policy/schedule-spec.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const NINE = Date.UTC(2026, 0, 5, 9);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const hourly = specOf({ every: '1h' });
const onTheHour = specOf({ cron: '0 * * * *' });

t.test('a run is named after the second for which it was planned', async (t) => {
  t.equal(runOf('nightly', NINE), 'nightly-20260105T090000Z');
  t.equal(runOf('nightly', NINE + 999), runOf('nightly', NINE));
  t.not(runOf('nightly', NINE + 1_000), runOf('nightly', NINE));
});

t.test('the planned time of a firing', async (t) => {
  const at = (spec: ScheduleSpec, firedAt: number, nextAt: number): number =>
    dueTimeOf(spec, { firedAt, nextAt });
  for (const spec of [hourly, onTheHour])
    t.equal(at(spec, NINE + 3, NINE + HOUR_MS), NINE, `${spec.timing.kind} in time`);
  // Fired once more after a crash: the pattern knows its time again, the interval begins anew.
  const again = NINE + 7 * MINUTE_MS;
  t.equal(at(onTheHour, again, NINE + HOUR_MS), NINE);
  t.equal(at(hourly, again, again + HOUR_MS), again);
  // The server rounded its clock up to ten, and planned eleven: this firing stands for ten.
  t.equal(at(onTheHour, NINE + HOUR_MS - 300, NINE + 2 * HOUR_MS), NINE + HOUR_MS);
  const rare = specOf({ cron: '0 0 29 2 *' });
  t.equal(at(rare, NINE, Date.UTC(2028, 1, 29)), Date.UTC(2024, 1, 29));
});

t.test(
  'a firing is named after its own time where the server left one out on its way to the next',
  async (t) => {
    const noon = (day: string): number => Date.parse(`${day}T15:00:00Z`);
    // In Santiago the 5th of September 2027 has no midnight: from November the server sees no September.
    const spec = specOf({ cron: '0 12 16 9,11 *', timeZone: 'America/Santiago' });
    const [next = Number.NaN] = nextTimes(spec, { from: noon('2026-11-16'), count: 1 });
    t.equal(next, noon('2027-11-16'), 'the server goes on with the next November');
    t.equal(dueTimeOf(spec, { firedAt: noon('2026-11-16') + 4, nextAt: next }), noon('2026-11-16'));
    t.equal(dueTimeOf(spec, { firedAt: noon('2026-11-16') - 300, nextAt: next }), noon('2026-11-16'));
    t.equal(
      findMissed(spec, { since: noon('2026-11-16'), now: noon('2027-09-16') + 60_000 }),
      noon('2027-09-16'),
    );
    for (const [zone, cron, fired] of [
      ['America/Havana', '0 12 20 3,11 *', '2025-11-20T17:00:00Z'],
      ['Asia/Beirut', '0 0 30 3,11 *', '2025-11-29T22:00:00Z'],
    ] as const) {
      const rare = specOf({ cron, timeZone: zone });
      const firedAt = Date.parse(fired);
      const [nextAt = Number.NaN] = nextTimes(rare, { from: firedAt, count: 1 });
      t.ok(nextAt > firedAt + 300 * 24 * HOUR_MS, `${zone}: March is left out`);
      t.equal(dueTimeOf(rare, { firedAt: firedAt + 4, nextAt }), firedAt, zone);
    }
  },
);

t.test('the times to come', async (t) => {
  const minutes = (spec: ScheduleSpec, from: number, anchorAt?: number): number[] =>
    nextTimes(spec, { from, count: 3, ...(anchorAt !== undefined && { anchorAt }) }).map(
      (at) => (at - NINE) / MINUTE_MS,
    );
  t.same(minutes(hourly, NINE), [60, 120, 180]);
  t.same(minutes(hourly, NINE + 499), [60, 120, 180], 'the server rounds to the second');
  t.same(minutes(hourly, NINE, NINE - 10 * MINUTE_MS), [50, 110, 170]);
  t.same(minutes(hourly, NINE + 50 * MINUTE_MS, NINE - 10 * MINUTE_MS), [110, 170, 230]);
  t.same(minutes(onTheHour, NINE + 1), [60, 120, 180]);
  t.same(nextTimes(specOf({ cron: '0 0 29 2 *' }), { from: NINE, count: 1 }), [Date.UTC(2028, 1, 29)]);
  t.same(nextTimes(onTheHour, { from: NINE, count: 0 }), []);
});

t.test('due', async (t) => {
  const fire = {
    action: 'fire',
    reason: 'due',
    dueAt: NINE,
    run: 'nightly-20260105T090000Z',
    startAt: NINE + 5,
  };
  for (const spec of [hourly, onTheHour]) {
    t.same(decide({ spec }), fire, 'the first time');
    t.same(decide({ spec, lastDueAt: NINE - HOUR_MS }), fire);
    t.match(decide({ spec, now: NINE + MINUTE_MS }), { action: 'fire', reason: 'due' });
    const early = decide({ spec, now: NINE - 2_000 });
    t.match(early, { reason: 'due', startAt: NINE }, 'the clock here is behind');
  }
});

t.test('no time has two runs', async (t) => {
  const already = { action: 'skip', reason: 'already', dueAt: NINE };
  for (const spec of [hourly, onTheHour, specOf({ paused: true })])
    t.same(decide({ spec, lastDueAt: NINE }), already);
  t.match(decide({ spec: onTheHour, lastDueAt: NINE + HOUR_MS }), {
    reason: 'already',
    dueAt: NINE + HOUR_MS,
  });

  const after = (spec: ScheduleSpec, ms: number): DueDecision =>
    decide({ spec, lastDueAt: NINE, dueAt: NINE + ms, now: NINE + ms });
  t.match(after(hourly, 31 * MINUTE_MS), already, 'an interval that began anew in the middle');
  t.match(after(hourly, 59 * MINUTE_MS - 1), already);
  t.match(after(hourly, 59 * MINUTE_MS), { action: 'fire' }, 'clocks may differ by a minute');
  const seconds = specOf({ every: '2s' });
  t.match(after(seconds, 999), already);
  t.match(after(seconds, 1_000), { action: 'fire' });
});

t.test('too late, or caught up by one run', async (t) => {
  const late = { dueAt: NINE, lastDueAt: NINE - HOUR_MS, now: NINE + MINUTE_MS + 1 };
  t.same(decide({ ...late, spec: specOf({ every: '1h', catchUp: 'none' }) }), {
    action: 'skip',
    reason: 'too-late',
    dueAt: NINE,
  });
  t.match(decide({ ...late, spec: hourly }), { action: 'fire', reason: 'caught-up', dueAt: NINE });

  for (const spec of [hourly, onTheHour]) {
    const now = NINE + 3 * HOUR_MS + 10 * MINUTE_MS;
    const noon = NINE + 3 * HOUR_MS;
    const first = decide({ spec, dueAt: NINE, lastDueAt: NINE - HOUR_MS, now });
    t.match(first, { reason: 'caught-up', dueAt: noon, run: 'nightly-20260105T120000Z', startAt: now });
    const rest = [1, 2, 3].map((hours) =>
      decide({ spec, dueAt: NINE + hours * HOUR_MS, lastDueAt: first.dueAt, now }),
    );
    t.same(
      rest.map(({ reason }) => reason),
      ['already', 'already', 'already'],
    );
  }
});

t.test('overlap, pause, and a run that was cut short', async (t) => {
  const queueing = specOf({ overlap: 'queue' });
  const runsOpen = ['nightly-20260105T080000Z'];
  t.same(decide({ runsOpen }), { action: 'skip', reason: 'overlap', dueAt: NINE });
  t.match(decide({ spec: queueing, runsOpen }), { action: 'fire', reason: 'due' });
  t.same(decide({ spec: specOf({ paused: true }) }), { action: 'skip', reason: 'paused', dueAt: NINE });
  const own = [...runsOpen, 'nightly-20260105T090000Z'];
  t.match(decide({ runsOpen: own }), { action: 'fire', reason: 'cut-short', run: own[1] });
});

t.test('what the server left out is found', async (t) => {
  const daily = specOf({ cron: '0 9 * * *' });
  const day = 24 * HOUR_MS;
  const missed = (spec: ScheduleSpec, since: number, now: number): number | undefined =>
    findMissed(spec, { since, now });
  t.equal(missed(daily, NINE, NINE + day + 4_999), undefined, 'the server may still be about to');
  t.equal(missed(daily, NINE, NINE + day + 5_000), NINE + day);
  t.equal(missed(daily, NINE, NINE + 3.5 * day), NINE + 3 * day, 'the last of several');
  t.equal(missed(hourly, NINE, NINE + HOUR_MS), undefined);
  t.equal(missed(hourly, NINE, NINE + HOUR_MS + 5_000), NINE + HOUR_MS);
  t.equal(missed(hourly, NINE, NINE - 1_000), undefined, 'clocks differ');
});

t.test('stagger is the same each time, jitter another one each time', async (t) => {
  const start = (settings: object, dueAt: number): number => {
    const decision = decide({ spec: specOf({ every: '1h', ...settings }), dueAt, now: dueAt });
    return decision.action === 'fire' ? decision.startAt - dueAt : Number.NaN;
  };
  const hours = Array.from({ length: 50 }, (_, i) => NINE + i * HOUR_MS);
  const staggered = new Set(hours.map((dueAt) => start({ stagger: '10m' }, dueAt)));
  t.equal(staggered.size, 1);
  const jittered = hours.map((dueAt) => start({ jitter: '10m' }, dueAt));
  t.ok(new Set(jittered).size > 45);
  t.same(
    jittered,
    hours.map((dueAt) => start({ jitter: '10m' }, dueAt)),
    'whoever asks',
  );
  const names = Array.from({ length: 200 }, (_, i) => start({ name: `shop-${i}`, stagger: '10m' }, NINE));
  for (const ms of [...names, ...jittered]) if (ms < 0 || ms >= 10 * MINUTE_MS) t.fail(`${ms}`);
  const early = names.filter((ms) => ms < 5 * MINUTE_MS).length;
  t.ok(early > 60 && early < 140, `${early} of 200 in the first half`);
});

t.test('through crashes, repeats and absences, times only go forward and none is used twice', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 200; round += 1) {
    const spec = specOf(
      random.pick<object>([{ every: '1h' }, { cron: '0 * * * *' }, { every: '1h', catchUp: 'none' }]),
    );
    const runs: string[] = [];
    let lastDueAt: number | undefined;
    let now = NINE;
    let planned = NINE;
    for (let step = 0; step < 60; step += 1) {
      // In time; or once more; or, for an interval, on a grid that moved; handled at once or much later.
      const moved = spec.timing.kind === 'every' && random.chance(0.2) ? random.int(1, 3_599) * 1_000 : 0;
      if (!random.chance(0.2)) planned += HOUR_MS + moved;
      now = Math.max(now, planned) + (random.chance(0.2) ? random.int(0, 5 * HOUR_MS) : random.int(0, 2_000));
      const decision = decideDue({ spec, dueAt: planned, lastDueAt, now, runsOpen: [] });
      if (decision.action === 'fire') {
        if (runs.includes(decision.run)) t.fail(`${decision.run} twice`);
        if (decision.dueAt > now) t.fail('fired ahead of its time');
        runs.push(decision.run);
      }
      if (lastDueAt !== undefined && decision.dueAt < lastDueAt) t.fail('time went backwards');
      lastDueAt = decision.dueAt;
    }
    if (runs.length === 0 && spec.catchUp === 'one') t.fail('it never fired');
  }
  t.pass('200 schedules');
});

function decide(facts: Partial<DueFacts>): DueDecision {
  return decideDue({
    spec: hourly,
    dueAt: NINE,
    lastDueAt: undefined,
    now: (facts.dueAt ?? NINE) + 5,
    runsOpen: [],
    ...facts,
  });
}

function specOf(settings: object): ScheduleSpec {
  const parsed = parseSchedule({ name: 'nightly', scraper: 'prices', ...settings }, NINE);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.spec;
}
