/** How many tasks a worker lets itself run: single decisions, and whole lives of readings. */
import t from 'tap';
import { createSlots } from '../../src/actors/worker/slots.ts';
import {
  allSlots,
  decideSlots,
  type PressureFacts,
  type SlotDecision,
  type SlotState,
  type Strain,
} from '../../src/policy/pressure.ts';
import { quietLog } from '../kit/nats-server.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const limits = { memoryPercent: 85, cpuPercent: 80, loopLagMs: 100, intervalMs: 1_000 };
const calm: Strain = { memoryPercent: 30, cpuPercent: 20, ownCpuPercent: 10, loopLagMs: 2 };
const MEMORY: Strain = { ...calm, memoryPercent: 90 };

/** A worker of ten slots that has been pressed for long enough. */
const facts = (
  strain: Partial<Strain>,
  state: Partial<SlotState> = {},
  changes: Partial<PressureFacts> = {},
): PressureFacts => ({
  strain: { ...calm, ...strain },
  slots: 10,
  busy: 10,
  state: { ...allSlots(10), pressed: 2, calm: 2, ...state },
  sinceChangeMs: 60_000,
  ...changes,
});

t.test('one reading', async (t) => {
  const lowered = { allowed: 2, limitedBy: ['memory'] as const };
  const table: readonly [string, PressureFacts, Partial<SlotDecision>][] = [
    ['calm', facts({}), { allowed: 10, limitedBy: [], reason: 'steady' }],
    ['memory', facts(MEMORY), { allowed: 5, limitedBy: ['memory'], reason: 'lowered' }],
    ['the loop', facts({ loopLagMs: 101 }), { allowed: 5, limitedBy: ['loop'], reason: 'lowered' }],
    [
      'the CPU, by this process too',
      facts({ cpuPercent: 95, ownCpuPercent: 70, loopLagMs: 26 }),
      { allowed: 5, limitedBy: ['cpu'], reason: 'lowered' },
    ],
    [
      'all of them',
      facts({ memoryPercent: 99, cpuPercent: 99, ownCpuPercent: 99, loopLagMs: 999 }),
      { allowed: 5, limitedBy: ['memory', 'cpu', 'loop'] },
    ],
    [
      'a CPU in full use that nobody suffers from',
      facts({ cpuPercent: 100, ownCpuPercent: 100, loopLagMs: 12 }),
      { allowed: 10, calm: 3, reason: 'steady' },
    ],
    [
      'neither full use nor trouble',
      facts({ cpuPercent: 100, ownCpuPercent: 100, loopLagMs: 20 }),
      { allowed: 10, calm: 0, pressed: 0 },
    ],
    [
      'the CPU, by others',
      facts({ cpuPercent: 100, ownCpuPercent: 20, loopLagMs: 40 }),
      { allowed: 10, reason: 'steady' },
    ],
    [
      'a busy process, a free machine',
      facts({ cpuPercent: 60, ownCpuPercent: 100, loopLagMs: 40 }),
      { allowed: 10 },
    ],
    ['at a limit', facts({ memoryPercent: 85, loopLagMs: 100 }), { allowed: 10, reason: 'steady' }],
    [
      'a peak',
      facts(MEMORY, { pressed: 1 }),
      { allowed: 10, limitedBy: [], pressed: 2, calm: 0, reason: 'pressed' },
    ],
    ['too soon after the last time', facts(MEMORY, {}, { sinceChangeMs: 1_999 }), { reason: 'pressed' }],
    ['half of what runs, not of what might', facts(MEMORY, {}, { busy: 4 }), { allowed: 2 }],
    ['nothing runs', facts(MEMORY, {}, { busy: 0 }), { allowed: 5 }],
    ['more run than are allowed by now', facts(MEMORY, { allowed: 4 }, { busy: 9 }), { allowed: 2 }],
    ['one is left', facts(MEMORY, { allowed: 1 }), { allowed: 1, limitedBy: ['memory'], reason: 'pressed' }],
    ['recovered', facts({}, lowered), { allowed: 3, limitedBy: ['memory'], reason: 'raised' }],
    ['a breath', facts({}, { ...lowered, calm: 1 }), { allowed: 2, reason: 'recovering' }],
    [
      'raised a moment ago',
      facts({}, lowered, { sinceChangeMs: 2_999 }),
      { allowed: 2, reason: 'recovering' },
    ],
    [
      'neither pressed nor calm',
      facts({ memoryPercent: 82 }, lowered),
      { allowed: 2, limitedBy: ['memory'], calm: 0, pressed: 0, reason: 'recovering' },
    ],
    [
      'a machine that others keep busy does not hold it down',
      facts({ cpuPercent: 100, ownCpuPercent: 25, loopLagMs: 40 }, { ...lowered, limitedBy: ['cpu'] }),
      { allowed: 3, reason: 'raised' },
    ],
    [
      'all slots again',
      facts({}, { ...lowered, allowed: 9 }),
      { allowed: 10, limitedBy: [], reason: 'raised' },
    ],
    [
      'something else presses now',
      facts({ loopLagMs: 500 }, { ...lowered, pressed: 0 }),
      { allowed: 2, limitedBy: ['loop'], reason: 'pressed' },
    ],
  ];
  for (const [name, given, expected] of table) t.match(decideSlots(given, limits), expected, name);
});

/** Readings, one per interval. */
function live(slots: number, strains: Iterable<{ strain: Strain; busy: number }>): SlotDecision[] {
  let state: SlotState = allSlots(slots);
  let sinceChangeMs = Infinity;
  const decisions: SlotDecision[] = [];
  for (const { strain, busy } of strains) {
    sinceChangeMs += limits.intervalMs;
    const decision = decideSlots({ strain, slots, busy, state, sinceChangeMs }, limits);
    if (decision.allowed !== state.allowed) sinceChangeMs = 0;
    state = decision;
    decisions.push(decision);
  }
  return decisions;
}

t.test('whatever the readings are', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 300; round += 1) {
    const slots = random.int(1, random.pick([3, 20, 1_000]));
    const wild = Array.from({ length: random.int(1, 200) }, () => ({
      strain: {
        memoryPercent: random.int(60, 100),
        cpuPercent: random.int(0, 100),
        ownCpuPercent: random.int(0, 150),
        loopLagMs: random.int(0, 250),
      },
      busy: random.int(0, slots),
    }));
    const peaceful = Array.from({ length: 50 }, () => ({ strain: calm, busy: random.int(0, slots) }));
    const decisions = live(slots, [...wild, ...peaceful]);
    const where = `slots ${slots}: ${decisions.map(({ allowed }) => allowed).join(' ')}`;
    decisions.forEach(({ allowed, limitedBy }, at) => {
      const before = decisions[at - 1]?.allowed ?? slots;
      const next = decisions[at + 1]?.allowed ?? allowed;
      if (!Number.isInteger(allowed) || allowed < 1 || allowed > slots) t.fail(`out of bounds, ${where}`);
      if (allowed < slots && limitedBy.length === 0) t.fail(`no reason, ${where}`);
      if (allowed === slots && limitedBy.length > 0) t.fail(`a reason for nothing, ${where}`);
      if (allowed !== before && next !== allowed) t.fail(`changed twice in two readings, ${where}`);
    });
    t.equal(decisions.at(-1)?.allowed, slots, 'and recovers when all is calm');
  }
});

t.test('under steady pressure of its own making it settles instead of swinging', async (t) => {
  // Each task takes 6 % of the memory beside the 40 % that others have: 7 fit below the limit.
  let state: SlotState = allSlots(20);
  let sinceChangeMs = Infinity;
  const changes: number[] = [];
  for (let at = 0; at < 600; at += 1) {
    sinceChangeMs += limits.intervalMs;
    const busy = state.allowed;
    const strain = { ...calm, memoryPercent: Math.min(100, 40 + 6 * busy) };
    const decision = decideSlots({ strain, slots: 20, busy, state, sinceChangeMs }, limits);
    if (decision.allowed !== state.allowed) {
      changes.push(decision.allowed);
      sinceChangeMs = 0;
    }
    state = decision;
  }
  t.ok(changes.length <= 6, `it changed ${changes.length} times in 600 readings: ${changes.join(' ')}`);
  t.ok(state.allowed >= 5 && state.allowed <= 7, `${state.allowed} slots are left`);
});

t.test('the slots of a worker follow their readings', async (t) => {
  let now = 0;
  let strain = calm;
  let told = 0;
  let reads = 0;
  const slots = createSlots({
    ports: {
      readStrain() {
        reads += 1;
        return strain;
      },
      onSlots: () => (told += 1),
      log: quietLog,
    },
    limits: { concurrency: 8, pressure: limits },
    now: () => now,
  });
  const pass = (ms: number): (string | undefined)[] => {
    const changes: (string | undefined)[] = [];
    for (const end = now + ms; now < end;) {
      now += 250;
      slots.used(6);
      changes.push(slots.look());
    }
    return changes.filter((change) => change !== undefined);
  };
  t.same(pass(5_000), []);
  t.equal(reads, 5, 'a reading per interval, however often it is asked');
  strain = MEMORY;
  t.same(pass(3_000), ['lowered']);
  t.same([slots.now(), slots.limitedBy(), told], [3, ['memory'], 1], 'half of the six that ran');
  t.same(pass(10_000), ['lowered']);
  t.equal(slots.now(), 1);
  strain = calm;
  pass(60_000);
  t.same([slots.now(), slots.limitedBy()], [8, []]);
});

t.test('a worker that reads nothing uses all of its slots', async (t) => {
  const slots = createSlots({
    ports: { log: quietLog },
    limits: { concurrency: 8, pressure: { ...limits, intervalMs: 0 } },
  });
  t.equal(slots.look(), undefined);
  t.equal(slots.now(), 8);
});
