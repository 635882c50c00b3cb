import t from 'tap';
import { setMaxListeners } from 'node:events';
import { readEgressPolicy } from '../../src/fetch/egress-policy.ts';
import { createLeasePool } from '../../src/fetch/lease-pool.ts';
import type { LeasePool } from '../../src/fetch/lease-ports.ts';
import type { Denial, Permit, PermitRequest } from '../../src/fetch/permit.ts';
import type { ScraperEgress } from '../../src/scrapers/scraper.ts';
import { createFakeClock, type FakeClock } from '../kit/fake-clock.ts';
import { createFakeManager, granted, NOTHING, refused, type FakeManager } from '../kit/fake-manager.ts';
import { quietLog } from '../kit/nats-server.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly manager: FakeManager;
  readonly pool: LeasePool;
  readonly ask: (change?: Partial<PermitRequest>, signal?: AbortSignal) => Asked;
}

interface Asked {
  answer: Permit | Denial | undefined;
  error: unknown;
  at: number;
}

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

function policy(egress: ScraperEgress = {}): ReturnType<typeof readEgressPolicy> {
  return readEgressPolicy({ egress }, { via: 'auto', whenNone: 'wait', select: 'lru' });
}

function bench(): Bench {
  const clock = createFakeClock();
  const manager = createFakeManager();
  const pool = createLeasePool({
    worker: 'w1',
    machine: 'm1',
    port: manager,
    clock,
    random: () => 0.5,
    log: quietLog,
    readWay: () => ({ address: undefined, control: undefined }),
    robotsVersion: () => undefined,
    onRobots: () => undefined,
  });
  return {
    clock,
    manager,
    pool,
    ask(change = {}, signal = NEVER) {
      const asked: Asked = { answer: undefined, error: undefined, at: 0 };
      const request = {
        host: 'site.example',
        scraper: 's',
        policy: policy(),
        tried: [],
        owner: {},
        begun: false,
        ...change,
      };
      pool.acquire(request, signal).then(
        (answer) => Object.assign(asked, { answer, at: clock.now() }),
        (error: unknown) => Object.assign(asked, { error, at: clock.now() }),
      );
      return asked;
    },
  };
}

function permitOf({ answer }: Asked): Permit {
  if (answer?.kind !== 'permit') throw new Error(`no permit: ${JSON.stringify(answer)}`);
  return answer;
}

t.test(
  'all that is wanted in one turn is one question, and an open lease serves everything after it',
  async (t) => {
    const { ask, clock, manager } = bench();
    const asked = Array.from({ length: 100 }, () => ask());
    const other = ask({ host: 'other.example' });
    await clock.pass(1);
    t.equal(manager.requests.length, 1);
    t.match(manager.requests[0], {
      worker: 'w1',
      machine: 'm1',
      wants: [
        { host: 'site.example', scraper: 's', count: 100, slots: 100, via: 'auto', select: 'lru', tried: [] },
        { host: 'other.example', count: 1, slots: 1 },
      ],
    });
    for (const each of [...asked, other]) permitOf(each).release({ outcome: 'ok', ms: 5 });
    for (let round = 0; round < 50; round += 1)
      permitOf(await settled(ask(), clock)).release({ outcome: 'ok' });
    t.equal(manager.requests.length, 1, 'nothing more was asked');
  },
);

t.test('spacing holds, and chance only stretches it', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ permits: 3, spacingMs: 200, jitter: 0.5, slots: 1_000 }));
  const asked = [ask(), ask(), ask()];
  await clock.pass(1_000);
  t.same(
    asked.map(({ at }) => at - (asked[0]?.at ?? 0)),
    [0, 250, 500],
  );
  t.equal(manager.requests.length, 1);
});

t.test('the manager hears of the last start of a spaced lease while its page is still loading', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ permits: 2, spacingMs: 200, slots: 1_000 }));
  const asked = [ask(), ask()];
  await clock.pass(250);
  permitOf(asked[0] as Asked).sent();
  await clock.pass(100);
  t.same(manager.reports, [], 'one may still start');
  permitOf(asked[1] as Asked).sent();
  await clock.pass(100);
  t.match(manager.reports, [{ uses: [], started: [{ count: 2, latestAgoMs: 80 }], done: [] }]);
});

t.test('good answers under an open lease are told as one; any other is told by itself', async (t) => {
  const { ask, clock, manager } = bench();
  const permits = Array.from({ length: 6 }, () => ask());
  await clock.pass(1);
  const outcomes = ['ok', 'ok', 'target', 'ok', 'ok', 'ok'] as const;
  for (const [n, asked] of permits.entries())
    permitOf(asked).release({ outcome: outcomes[n] ?? 'ok', ms: n, status: 200 });
  await clock.pass(100);
  t.match(manager.uses(), [
    { n: 0, times: 2, outcome: 'ok', ms: 0.5 },
    { n: 2, times: 1, outcome: 'target' },
    { n: 3, times: 3, outcome: 'ok', ms: 4 },
  ]);
});

t.test('a connection that took long moves the next start', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ permits: 2, spacingMs: 200 }));
  const first = await settled(ask(), clock);
  await clock.pass(100);
  permitOf(first).release({ outcome: 'ok', connectMs: 80, firstByteMs: 90 });
  const second = ask();
  await clock.pass(500);
  t.equal(second.at - first.at, 290);
});

t.test('the first start waits for the time that was granted', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ startInMs: 700 }));
  const asked = ask();
  await clock.pass(699);
  t.equal(asked.answer, undefined);
  await clock.pass(2);
  t.equal(asked.answer?.kind, 'permit');
});

t.test('slots are never exceeded, and those who wait come in order', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ slots: 2 }), refused('host_busy', 400));
  const asked = [ask(), ask(), ask(), ask()];
  await clock.pass(50);
  t.same(
    asked.map(({ answer }) => answer?.kind),
    ['permit', 'permit', undefined, undefined],
  );
  permitOf(asked[1] as Asked).release({ outcome: 'ok' });
  await clock.pass(1);
  t.equal(asked[2]?.answer?.kind, 'permit');
  t.equal(asked[3]?.answer, undefined);
  permitOf(asked[0] as Asked).release({ outcome: 'ok' });
  await clock.pass(1);
  t.equal(asked[3]?.answer?.kind, 'permit');
});

t.test('a permit that is given back can be used again, and is not reported', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ permits: 1 }));
  const first = await settled(ask(), clock);
  permitOf(first).release({ outcome: 'unsent' });
  permitOf(first).release({ outcome: 'ok' });
  const second = await settled(ask(), clock);
  t.equal(second.answer?.kind, 'permit');
  t.equal(manager.requests.length, 1);
  permitOf(second).release({ outcome: 'ok', ms: 3, status: 200 });
  await clock.pass(200);
  t.match(manager.uses(), [{ n: 0, outcome: 'ok', status: 200 }]);
  t.equal(manager.uses().length, 1);
  t.equal(manager.done().length, 1, 'a lease without permits is given back at once');
});

t.test('validity counts from the question: what has expired starts nothing', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ validMs: 1_000, slots: 10 }));
  const held = await settled(ask(), clock);
  manager.replyWith((report) => ({ ...NOTHING, ended: report.renew }));
  await clock.pass(1_001);
  permitOf(held).release({ outcome: 'ok' });
  await settled(ask(), clock);
  t.equal(manager.requests.length, 2);
});

t.test('a lease of something scarce is renewed at a third while it is in use', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ validMs: 3_000, slots: 1 }));
  const held = await settled(ask(), clock);
  await clock.pass(10_000);
  const renewals = manager.reports.filter(({ renew }) => renew.length > 0).length;
  t.ok(renewals >= 8 && renewals <= 10, `${renewals} renewals`);
  permitOf(held).release({ outcome: 'ok' });
  t.equal((await settled(ask(), clock)).answer?.kind, 'permit');
  t.equal(manager.requests.length, 1, 'it is still good');
});

t.test('what is idle goes back after half a second, with its uses', async (t) => {
  const { ask, clock, manager, pool } = bench();
  permitOf(await settled(ask(), clock)).release({ outcome: 'ok' });
  await clock.pass(400);
  t.equal(pool.stats().leases, 1);
  await clock.pass(400);
  t.equal(pool.stats().leases, 0);
  t.equal(manager.done().length, 1);
  t.equal(manager.uses().length, 1);
});

t.test('grave outcomes are told at once, end the lease, and come before the next question', async (t) => {
  for (const outcome of ['throttled', 'blocked', 'proxy'] as const) {
    const { ask, clock, manager } = bench();
    const first = await settled(ask(), clock);
    permitOf(first).release({ outcome, status: 429, retryAfterMs: 5_000 });
    t.match(manager.uses(), [{ outcome, retryAfterMs: 5_000 }], 'not a moment later');
    await settled(ask(), clock);
    t.equal(manager.requests.length, 2);
    t.equal(manager.done().length, 1);
  }
});

t.test('a closed host sends everybody away, one after the other', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ slots: 1 }), refused('host_busy', 500));
  const first = await settled(ask(), clock);
  const waiting = ask();
  await clock.pass(10);
  manager.replyWith(() => ({ ended: [], closed: [{ host: 'site.example', forMs: 60_000 }] }));
  permitOf(first).release({ outcome: 'throttled', status: 429 });
  await clock.pass(10);
  t.match(waiting.answer, { kind: 'denied', reason: 'host_closed', retryInMs: 60_000 });
  const later = await settled(ask(), clock);
  t.match(later.answer, { kind: 'denied', reason: 'host_closed' });
  t.ok((later.answer as Denial).retryInMs > (waiting.answer as Denial).retryInMs);
  manager.answer(granted({}));
  const asked = manager.requests.length;
  t.equal((await settled(ask({ host: 'other.example' }), clock)).answer?.kind, 'permit');
  t.equal(manager.requests.length, asked + 1, 'only the other host was asked about');
  await clock.pass(60_000);
  t.equal((await settled(ask(), clock)).answer?.kind, 'permit', 'it is open again');
});

t.test('what the manager tells everybody is heard', async (t) => {
  const { ask, clock, manager, pool } = bench();
  permitOf(await settled(ask(), clock)).release({ outcome: 'ok' });
  manager.tellAll({ ended: [], closed: [{ host: 'site.example', forMs: 1_000 }] });
  t.equal(pool.stats().leases, 0);
  t.match((await settled(ask(), clock)).answer, { kind: 'denied', reason: 'host_closed' });
});

t.test('a refusal with a late time sends away, one with an early time is asked again', async (t) => {
  const late = bench();
  late.manager.answer(refused('rate_limited', 90_000));
  t.match((await settled(late.ask(), late.clock)).answer, { reason: 'rate_limited', retryInMs: 90_000 });

  const early = bench();
  early.manager.answer(refused('host_busy', 300), granted({}));
  const asked = early.ask();
  await early.clock.pass(299);
  t.equal(early.manager.requests.length, 1);
  await early.clock.pass(10);
  t.equal(asked.answer?.kind, 'permit');
});

t.test('an attempt that has begun waits where others are sent away, but not for ever', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(refused('host_busy', 20_000));
  const asked = [ask(), ask({ begun: true, only: 'direct' })];
  await clock.pass(10_000);
  t.match(
    asked.map(({ answer }) => answer),
    [{ kind: 'denied', retryInMs: 20_000 }, undefined],
  );
  manager.replyWith(() => ({ ended: [], closed: [{ host: 'site.example', forMs: 30_000 }] }));
  manager.tellAll({ ended: [], closed: [{ host: 'site.example', forMs: 30_000 }] });
  manager.answer(refused('host_closed', 30_000), granted({}));
  await clock.pass(30_000);
  t.equal(asked[1]?.answer, undefined, 'nor when the host is closed for so long');
  await clock.pass(15_000);
  t.equal(asked[1]?.answer?.kind, 'permit');

  const slow = bench();
  slow.manager.answer(refused('host_busy', 50_000));
  const waiting = slow.ask({ begun: true });
  await slow.clock.pass(99_000);
  t.equal(waiting.answer, undefined);
  await slow.clock.pass(2_000);
  t.match(waiting.answer, { kind: 'denied', reason: 'host_busy' }, 'the third wait would be too much');

  const far = bench();
  far.manager.answer(refused('rate_limited', 130_000));
  t.match((await settled(far.ask({ begun: true }), far.clock)).answer, { retryInMs: 130_000 });
});

t.test('nobody waits for ever, whether the manager refuses, is away, or comes back', async (t) => {
  const refusing = bench();
  refusing.manager.answer(refused('host_busy', 400));
  const denied = refusing.ask();
  await refusing.clock.pass(3_000);
  t.match(denied.answer, { kind: 'denied', reason: 'host_busy' });

  const away = bench();
  away.manager.answer(() => undefined);
  const waiting = away.ask();
  await away.clock.pass(5_500);
  t.equal(waiting.answer, undefined, 'a new manager may come');
  await away.clock.pass(1_000);
  t.match(waiting.answer, { kind: 'denied', reason: 'manager_away' });
  t.ok((waiting.answer as Denial).retryInMs >= 5_000);

  const back = bench();
  back.manager.answer(() => undefined);
  const patient = back.ask();
  await back.clock.pass(3_000);
  back.manager.answer(granted({}));
  await back.clock.pass(300);
  t.equal(patient.answer?.kind, 'permit');
});

t.test('who waits for more than a moment is starved, and counts once for all of its requests', async (t) => {
  const { ask, clock, manager, pool } = bench();
  manager.answer(granted({ slots: 1 }), refused('host_busy', 900));
  const first = await settled(ask(), clock);
  const owner = {};
  for (const each of [owner, owner, {}]) ask({ owner: each });
  await clock.pass(50);
  t.match(pool.stats(), { waiting: 3, starved: 0 });
  await clock.pass(100);
  t.match(pool.stats(), { waiting: 3, starved: 2 });
  permitOf(first).release({ outcome: 'ok' });
  await clock.pass(1);
  t.match(pool.stats(), { waiting: 2 });
});

t.test('who is aborted while waiting leaves no trace', async (t) => {
  const { ask, clock, manager, pool } = bench();
  manager.answer(granted({ permits: 1, slots: 1 }), refused('host_busy', 500));
  const first = await settled(ask(), clock);
  const controller = new AbortController();
  const waiting = ask({}, controller.signal);
  await clock.pass(10);
  t.equal(pool.stats().waiting, 1);
  controller.abort(new Error('enough'));
  await clock.pass(1);
  t.match(waiting.error, { message: 'enough' });
  t.equal(pool.stats().waiting, 0);
  permitOf(first).release({ outcome: 'unsent' });
  await clock.pass(1_000);
  t.same(manager.uses(), [], 'nothing was used');
  t.equal(pool.stats().leases, 0);
});

t.test('tried egresses are not used, another want asks for others', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ egress: 'p1' }), granted({ egress: 'p2' }));
  const first = await settled(ask(), clock);
  const second = await settled(ask({ tried: ['p1'] }), clock);
  t.same([permitOf(first).egress, permitOf(second).egress], ['p1', 'p2']);
  t.match(manager.requests[1]?.wants, [{ tried: ['p1'], count: 1 }]);
  t.equal(permitOf(await settled(ask({ only: 'p1' }), clock)).egress, 'p1', 'sticky to what it began with');
  t.equal(manager.requests.length, 2);
});

t.test('several leases are used in turn', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ egress: 'p1' }, { egress: 'p2' }, { egress: 'p3' }));
  const seen: string[] = [];
  for (let round = 0; round < 6; round += 1) {
    const permit = permitOf(await settled(ask(), clock));
    seen.push(permit.egress);
    permit.release({ outcome: 'ok' });
  }
  t.same(seen, ['p1', 'p2', 'p3', 'p1', 'p2', 'p3']);
});

t.test('asks ahead for what the last second used, before the permits are gone', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ permits: 40 }));
  for (let round = 0; round < 100; round += 1) {
    permitOf(await settled(ask(), clock)).release({ outcome: 'ok' });
    await clock.pass(5);
  }
  const [, ...ahead] = manager.requests.flatMap(({ wants }) => wants);
  t.ok(ahead.length >= 2, `${ahead.length} questions`);
  t.ok(
    ahead.every(({ count }) => count >= 20 && count <= 120),
    'bounded by what was used',
  );
});

t.test('an open lease is replaced before it ends, so that nobody waits for a new one', async (t) => {
  const { ask, clock, manager } = bench();
  manager.answer(granted({ validMs: 3_000 }));
  for (let round = 0; round < 400; round += 1) {
    const asked = ask();
    await Promise.resolve();
    await Promise.resolve();
    if (round === 0) await clock.pass(1);
    else if (asked.answer?.kind !== 'permit') t.fail(`page ${round} had to wait`);
    permitOf(asked).release({ outcome: 'ok' });
    await clock.pass(20);
  }
  t.ok(manager.requests.length >= 3 && manager.requests.length <= 5, `${manager.requests.length} questions`);
});

t.test('what one task holds alone is for others when it lets go', async (t) => {
  const { ask, clock, manager, pool } = bench();
  const alone = policy({ exclusive: true });
  const [a, b] = [{}, {}];
  manager.answer(granted({ egress: 'p1' }), refused('no_proxy_available', 800));
  const first = permitOf(await settled(ask({ policy: alone, owner: a }), clock));
  first.release({ outcome: 'ok' });
  const other = ask({ policy: alone, owner: b });
  await clock.pass(100);
  t.equal(other.answer, undefined);
  t.equal(permitOf(await settled(ask({ policy: alone, owner: a, only: 'p1' }), clock)).egress, 'p1');
  await clock.pass(700);
  t.equal(pool.stats().leases, 1, 'it is kept while its owner works');
  pool.letGo(a);
  await clock.pass(1);
  t.equal(permitOf(other).egress, 'p1');
});

t.test(
  'reports without an answer are sent again, and a lease goes back only with all its uses',
  async (t) => {
    const { ask, clock, manager } = bench();
    const permits = [];
    for (let each = 0; each < 700; each += 1) permits.push(permitOf(await settled(ask(), clock)));
    manager.replyWith(() => undefined);
    for (const permit of permits) permit.release({ outcome: 'target' });
    await clock.pass(3_000);
    const failed = manager.reports.length;
    t.ok(failed >= 2);
    manager.replyWith(() => NOTHING);
    await clock.pass(5_000);
    const told = manager.reports.slice(failed);
    t.equal(new Set(told.flatMap(({ uses }) => uses.map(({ n }) => n))).size, 700);
    const last = told.findIndex(({ done }) => done.length > 0);
    t.equal(
      told.slice(0, last + 1).reduce((sum, { uses }) => sum + uses.length, 0),
      700,
    );
    t.ok(
      told.every(({ uses }) => uses.every(({ startedAgoMs }) => startedAgoMs >= 3_000)),
      'times are of now',
    );
  },
);

t.test('closing does not go on for ever when nobody answers', async (t) => {
  const { ask, clock, manager, pool } = bench();
  permitOf(await settled(ask(), clock)).release({ outcome: 'ok' });
  manager.replyWith(() => undefined);
  const closed = pool.close();
  await clock.pass(2_000);
  await closed;
  const said = manager.reports.length;
  t.ok(said >= 1 && said <= 4, `${said} times`);
  await clock.pass(60_000);
  t.equal(manager.reports.length, said);
});

t.test('closing gives everything back', async (t) => {
  const { ask, clock, manager, pool } = bench();
  const held = await settled(ask(), clock);
  await settled(ask({ host: 'other.example' }), clock);
  permitOf(held).release({ outcome: 'ok' });
  manager.answer(refused('host_busy', 900));
  const waiting = ask({ host: 'third.example' });
  await clock.pass(10);
  const closed = pool.close();
  await clock.pass(10);
  await closed;
  t.equal(pool.stats().leases, 0);
  t.equal(manager.done().length, 2);
  t.equal(manager.uses().length, 1);
  t.equal(manager.listeners(), 0);
  t.equal(waiting.answer?.kind, 'denied');
  t.match(await settled(ask(), clock), { error: { code: 'CANCELLED' } });
});

async function settled(asked: Asked, clock: FakeClock): Promise<Asked> {
  await clock.pass(0);
  return asked;
}
