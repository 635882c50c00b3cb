import t, { type Test } from 'tap';
import type { FailureCode } from '../../src/domain/failure.ts';
import type { Fault } from '../../src/domain/task.ts';
import { addFault } from '../../src/policy/fault-history.ts';
import {
  decideSettlement,
  SETTLE_DEFAULTS,
  type AttemptFacts,
  type AttemptOutcome,
  type Carry,
  type Settlement,
} from '../../src/policy/settle.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const DAY_MS = 24 * 3_600_000;
const result = { items: [{ price: 1 }], pages: 1, bytes: 100 };
const fault: Fault = { at: 1, code: 'TIMEOUT', message: 'no answer', worker: 'w0', ms: 5 };

const facts: AttemptFacts = {
  faults: [],
  triedProxies: [],
  deferrals: 0,
  createdAt: NOW - 10_000,
  startedAt: NOW - 250,
  now: NOW,
  random: 0.5,
  worker: 'w1',
};

t.test('what is done is done, what is cancelled is cancelled', async (t) => {
  t.same(decide({ kind: 'done', result }), { kind: 'done', reason: 'finished', result });
  t.same(decide({ kind: 'cancelled', why: 'run r1 was cancelled' }), {
    kind: 'cancelled',
    reason: 'cancelled',
    why: 'run r1 was cancelled',
  });
});

t.test('each code has its consequence, on the first attempt and on the last', async (t) => {
  const used: Partial<AttemptFacts> = {
    faults: [fault, fault, fault],
    triedProxies: ['a', 'b', 'c'],
    deferrals: 9,
    deferredSince: NOW - DAY_MS,
  };
  const table: Readonly<Record<FailureCode, readonly [string, string]>> = {
    NETWORK: ['retry fault', 'bury attempts-used-up'],
    TIMEOUT: ['retry fault', 'bury attempts-used-up'],
    INTERNAL: ['retry fault', 'bury attempts-used-up'],
    TARGET: ['retry fault', 'bury attempts-used-up'],
    PROXY: ['swap proxy-fault', 'bury attempts-used-up'],
    BLOCKED: ['swap proxy-fault', 'bury attempts-used-up'],
    THROTTLED: ['defer throttled', 'bury expired'],
    NO_EGRESS: ['defer no-egress', 'bury expired'],
    CONFLICT: ['defer locked-elsewhere', 'bury expired'],
    UNAVAILABLE: ['defer unavailable', 'bury expired'],
    REJECTED: ['bury refused', 'bury refused'],
    INVALID: ['bury refused', 'bury refused'],
    CANCELLED: ['give-back stopping', 'give-back stopping'],
  };
  for (const [code, expected] of Object.entries(table)) {
    const outcome = failed(code as FailureCode, { proxy: 'x' });
    const seen = [decide(outcome), decide(outcome, used)].map(({ kind, reason }) => `${kind} ${reason}`);
    t.same(seen, expected, code);
  }
});

t.test('three retries are four attempts, each with its fault, and a wait that grows', async (t) => {
  let carry: Carry = facts;
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const settlement = decide(failed('NETWORK'), carry);
    if (settlement.kind !== 'retry') throw new Error(`attempt ${attempt}: ${settlement.kind}`);
    waits.push(settlement.atMs - NOW);
    carry = settlement.carry;
  }
  t.same(waits, [45_000, 90_000, 180_000]);
  t.equal(carry.faults.length, 3);
  t.same(decide(failed('TIMEOUT', { proxy: 'p1' }), carry), {
    kind: 'bury',
    reason: 'attempts-used-up',
    error: { code: 'TIMEOUT', message: 'it failed' },
    faults: [
      ...carry.faults,
      { at: NOW, code: 'TIMEOUT', message: 'it failed', worker: 'w1', proxy: 'p1', ms: 250 },
    ],
  });
  t.equal(decide(failed('NETWORK'), {}, { retries: 0 }).kind, 'bury', 'no retries, one attempt');
});

t.test('a retry waits for the time that the failure names, up to a day', async (t) => {
  const atMs = (retryAtMs: number): number => {
    const settlement = decide(failed('NETWORK', { retryAtMs }));
    return settlement.kind === 'retry' ? settlement.atMs - NOW : Number.NaN;
  };
  t.equal(atMs(NOW - 5), 45_000, 'in the past');
  t.equal(atMs(NOW + 45_001), 45_001);
  t.equal(atMs(NOW + 30 * DAY_MS), DAY_MS);
});

t.test('three swaps at once, then a fault, and all proxies are open again', async (t) => {
  let carry: Carry = facts;
  for (const proxy of ['a', 'b', 'c']) {
    const settlement = decide(failed('PROXY', { proxy }), carry);
    if (settlement.kind !== 'swap') throw new Error(settlement.kind);
    carry = settlement.carry;
  }
  t.same(carry.triedProxies, ['a', 'b', 'c']);
  t.same(carry.faults, [], 'a swap burns no attempt');

  const fourth = decide(failed('PROXY', { proxy: 'd' }), carry);
  t.match(fourth, { kind: 'retry', reason: 'proxies-used-up', atMs: NOW + 45_000 });
  t.match(fourth, { carry: { triedProxies: [], faults: [{ code: 'PROXY', proxy: 'd' }] } });
});

t.test('no swap where there is no other proxy to swap to', async (t) => {
  t.match(decide(failed('PROXY')), { kind: 'retry', reason: 'proxies-used-up' }, 'none is named');
  const again = decide(failed('PROXY', { proxy: 'a' }), { triedProxies: ['a'] });
  t.match(again, { kind: 'retry', reason: 'proxies-used-up' }, 'the same one came again');
  const other = decide(failed('NETWORK'), { triedProxies: ['a'] });
  t.match(other, { kind: 'retry', carry: { triedProxies: ['a'] } }, 'other faults keep the list');
});

t.test('a deferral burns nothing and waits for its time', async (t) => {
  const before = { faults: [fault], triedProxies: ['a'], deferrals: 4, deferredSince: NOW - 1000 };
  t.same(decide(failed('THROTTLED', { retryAtMs: NOW + 7_000 }), before), {
    kind: 'defer',
    reason: 'throttled',
    atMs: NOW + 7_000,
    carry: { ...before, deferrals: 5 },
  });
  t.match(decide(failed('THROTTLED'), before), { atMs: NOW + 30_000 }, 'no time is given');
  t.match(decide(failed('CONFLICT', { retryAtMs: NOW - 1 }), before), { atMs: NOW + 250 }, 'no spinning');
});

t.test('deferrals end a day after the first', async (t) => {
  const at = (deferredSince: number, retryAtMs?: number): Settlement =>
    decide(failed('THROTTLED', retryAtMs === undefined ? {} : { retryAtMs }), {
      deferrals: 1,
      deferredSince,
    });
  t.match(at(NOW - DAY_MS + 1), { kind: 'defer', atMs: NOW + 250 });
  t.match(at(NOW - DAY_MS), {
    kind: 'bury',
    reason: 'expired',
    error: { code: 'EXPIRED', message: 'deferred 1 times, and still: it failed' },
    faults: [{ code: 'THROTTLED' }],
  });
  t.match(at(NOW - 1000, NOW + 9 * DAY_MS), { atMs: NOW - 1000 + DAY_MS }, 'one last chance at the end');
});

t.test('a task that waited for days may still be deferred', async (t) => {
  const old = { createdAt: NOW - 9 * DAY_MS };
  t.match(decide(failed('THROTTLED'), old), { kind: 'defer', carry: { deferrals: 1, deferredSince: NOW } });
  t.match(
    decide(failed('THROTTLED'), { ...old, deferrals: 1 }),
    { reason: 'expired' },
    'its age is all we know',
  );
  t.match(decide(failed('THROTTLED'), { deferrals: 1 }), { carry: { deferredSince: facts.createdAt } });
});

t.test('the history keeps the first fault and the last 19', async (t) => {
  const numbered = (ms: number): Fault => ({ ...fault, ms });
  let faults: readonly Fault[] = [];
  for (let i = 1; i <= 20; i += 1) faults = addFault(faults, numbered(i));
  t.equal(faults.length, 20);
  for (let i = 21; i <= 50; i += 1) faults = addFault(faults, numbered(i));
  t.same(
    faults.map(({ ms }) => ms),
    [1, ...Array.from({ length: 19 }, (_, i) => i + 32)],
  );
  const [long] = addFault([], { ...fault, message: 'x'.repeat(9_000) });
  t.equal(long?.message.length, 500);
});

t.test('every task ends, whatever happens to it', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 400; round += 1) live(t, random);
  t.pass('400 tasks');
});

/** One task, from its first attempt to its end, at the mercy of the dice. */
function live(t: Test, random: Random): void {
  const retries = random.int(0, 60);
  const limits = { ...SETTLE_DEFAULTS, retries };
  const codes: readonly [FailureCode, ...FailureCode[]] = random.chance(0.3)
    ? ['THROTTLED']
    : [
        'NETWORK',
        'TIMEOUT',
        'INTERNAL',
        'PROXY',
        'BLOCKED',
        'TARGET',
        'THROTTLED',
        'NO_EGRESS',
        'CONFLICT',
        'UNAVAILABLE',
      ];
  let carry: Carry = { faults: [], triedProxies: [], deferrals: 0 };
  let now = NOW;
  for (let step = 0; step < 20_000; step += 1) {
    const startedAt = now;
    now += random.int(0, 60_000);
    const outcome = failed(random.pick(codes), {
      ...(random.chance(0.8) && { proxy: `p${random.int(1, 6)}` }),
      ...(random.chance(0.5) && { retryAtMs: now + random.int(-1_000, 4_000_000) }),
    });
    const settlement = decideSettlement(
      outcome,
      { ...carry, createdAt: NOW, startedAt, now, random: random.next(), worker: 'w' },
      limits,
    );
    if (settlement.kind === 'bury') {
      if (settlement.faults.length > 20) t.fail('the history is bounded');
      if (settlement.reason === 'attempts-used-up' && settlement.faults.length !== Math.min(retries, 19) + 1)
        t.fail(`${settlement.faults.length} attempts with ${retries} retries`);
      return;
    }
    if (!('carry' in settlement)) throw new Error(settlement.kind);
    check(t, carry, settlement);
    carry = settlement.carry;
    if ('atMs' in settlement) {
      if (settlement.atMs <= now) t.fail('never due at once');
      now = settlement.atMs;
    }
  }
  t.fail('it never ended');
}

function check(t: Test, before: Carry, { kind, carry }: Extract<Settlement, { carry: Carry }>): void {
  const grew = [
    carry.faults.length - before.faults.length,
    carry.deferrals - before.deferrals,
    carry.triedProxies.length > before.triedProxies.length ? 1 : 0,
  ];
  const expected = { retry: [1, 0, 0], defer: [0, 1, 0], swap: [0, 0, 1] }[kind];
  if (String(grew) !== String(expected)) t.fail(`${kind} changed ${String(grew)}`);
  if (carry.triedProxies.length > SETTLE_DEFAULTS.swapsMax) t.fail('too many swaps');
}

function failed(
  code: FailureCode,
  { proxy, retryAtMs }: { proxy?: string; retryAtMs?: number } = {},
): AttemptOutcome {
  return { kind: 'failed', failure: { code, message: 'it failed', retryAtMs }, proxy };
}

function decide(
  outcome: AttemptOutcome,
  given: Partial<AttemptFacts> = {},
  limits: Partial<typeof SETTLE_DEFAULTS> = {},
): Settlement {
  return decideSettlement(outcome, { ...facts, ...given }, { ...SETTLE_DEFAULTS, ...limits });
}
