/**
 * Whatever workers, networks and leaders do, no site sees more than it allows. Each round is one small world with its own
 * limits; what the sites saw is judged at its end.
 */
import t from 'tap';
import type { HostLimits } from '../../src/domain/egress.ts';
import { NO_HOST_LIMITS } from '../../src/policy/egress/limits.ts';
import type { Want } from '../../src/wire/egress.ts';
import { createWorld, mostAtOnce, mostWithin, type HeldLease, type World } from '../kit/egress-world.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const ROUNDS = 1_000;
const STEPS = 60;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

t.test('no limit is ever exceeded on what the sites saw', async (t) => {
  const seed = chooseSeed();
  t.comment(`SEED=${seed}`);
  let seen = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const random = createRandom(seed * 10_007 + round);
    const rules = createRules(random);
    const world = createWorld(random, rules.book, rules.workers);
    play(world, rules, random);
    seen += world.uses.length;
    const broken = judge(world, rules);
    if (broken.length > 0) {
      t.fail(`round ${round} of SEED=${seed}: ${broken.join('; ')}`, { rules });
      return;
    }
  }
  t.ok(seen > ROUNDS * 5, `${seen} requests in ${ROUNDS} rounds`);
});

interface Rules {
  readonly proxies: number;
  readonly workers: number;
  readonly host: HostLimits;
  readonly caps: { readonly perHour: number; readonly perMinute: number };
  readonly asked: Partial<HostLimits> | undefined;
  readonly exclusive: number;
  readonly session: number;
  readonly book: { readonly hostLimits: HostLimits; readonly proxiesPerWorkerMax: number; robots: false };
}

function createRules(random: Random): Rules {
  const maybe = (value: number): number => (random.chance(0.35) ? value : 0);
  const limits: HostLimits = {
    perHour: maybe(random.int(5, 30)),
    perMinute: maybe(random.int(2, 10)),
    delayMs: maybe(random.pick([50, 400, 2_000, 10_000])),
    egressDelayMs: maybe(random.pick([100, 1_000, 5_000])),
    jitter: random.pick([0, 0.5]),
    concurrency: maybe(random.int(1, 6)),
    egressCaps: { perHour: maybe(random.int(3, 12)), perMinute: maybe(random.int(1, 5)) },
  };
  const asked = random.chance(0.3);
  return {
    proxies: random.int(0, 5),
    workers: random.int(1, 6),
    host: limits,
    caps: { perHour: maybe(random.int(5, 20)), perMinute: maybe(random.int(2, 8)) },
    asked: asked ? limits : undefined,
    exclusive: random.pick([0, 0, 0.3]),
    session: random.pick([0, 0, 0.4]),
    book: {
      hostLimits: asked ? NO_HOST_LIMITS : limits,
      proxiesPerWorkerMax: random.pick([0, 0, 2]),
      robots: false,
    },
  };
}

function play(world: World, rules: Rules, random: Random): void {
  for (let index = 0; index < rules.proxies; index += 1)
    world.book().putProxy(
      {
        type: 'proxy',
        id: `p${index}`,
        address: { kind: 'http', host: '192.0.2.1', port: 8_000 + index },
        caps: rules.caps,
        weight: 1,
      },
      world.at(),
    );
  world.store();
  for (let step = 0; step < STEPS; step += 1) {
    // What a scraper brought along is forgotten when nobody has asked for long.
    const long = rules.asked ? [20_000, 20_000] : [90_000, 2_000_000];
    world.pass(random.pick([0, 1, 20, 300, 1_000, 5_000, ...long.map((ms) => random.int(0, ms))]));
    const worker = random.int(0, rules.workers - 1);
    const act = random.next();
    if (act < 0.35) world.ask(worker, [createWant(rules, random)]);
    else if (act < 0.7) {
      for (let burst = random.int(1, 12); burst > 0; burst -= 1) {
        world.useSome();
        world.pass(random.int(0, 120));
        if (random.chance(0.5)) world.finishSome();
        if (random.chance(0.3)) world.ask(random.int(0, rules.workers - 1), [createWant(rules, random)]);
      }
    } else if (act < 0.78) world.sendReport(worker);
    else if (act < 0.84) world.giveBack(worker);
    else if (act < 0.88) world.renew(worker);
    else if (act < 0.91) world.die(worker);
    else if (act < 0.94) world.fail();
    else if (act < 0.97) world.repeat(worker);
    else world.book().tick(world.at());
    if (random.chance(0.6)) world.deliver(random.int(0, rules.workers - 1));
  }
  world.pass(10_000_000);
}

function createWant(rules: Rules, random: Random): Want {
  const asks = random.chance(0.7);
  return {
    host: 'site',
    scraper: asks ? 'strict' : 'easy',
    count: random.int(1, 12),
    slots: random.int(1, 6),
    via: random.pick(['auto', 'auto', 'proxy', 'direct']),
    select: random.pick(['lru', 'lru', 'random', 'weighted', 'sticky']),
    exclusive: random.chance(rules.exclusive),
    tried: random.chance(0.2) ? [`p${random.int(0, 4)}`] : [],
    ...(random.chance(rules.session) && { session: 'any' as const }),
    ...(asks && rules.asked && { limits: rules.asked }),
  };
}

function judge(world: World, rules: Rules): string[] {
  const broken: string[] = [];
  const check = (isRight: boolean, what: string): void => {
    if (!isRight) broken.push(what);
  };
  const { uses, leases } = world;
  const within = (limit: number, times: readonly number[], windowMs: number, what: string): void =>
    check(
      limit === 0 || mostWithin(times, windowMs) <= limit,
      `${what}: ${mostWithin(times, windowMs)} > ${limit}`,
    );
  // Limits that a scraper brings along count from when it first asked.
  const counted = uses.filter(({ lease }) => !rules.asked || lease.grant.permits !== null);
  const limited = rules.asked ? leases.find(({ scraper }) => scraper === 'strict')?.heldFrom : 0;
  const judged = counted.filter(({ lease }) => limited !== undefined && lease.heldFrom >= limited);
  const times = judged.map(({ seenAt }) => seenAt);
  within(rules.host.perHour, times, HOUR_MS, 'host per hour');
  within(rules.host.perMinute, times, MINUTE_MS, 'host per minute');
  for (const egress of new Set(uses.map(({ lease }) => lease.grant.egress))) {
    const through = (all: typeof uses): number[] =>
      all.filter(({ lease }) => lease.grant.egress === egress).map(({ seenAt }) => seenAt);
    within(rules.host.egressCaps.perHour, through(judged), HOUR_MS, `${egress} at the host per hour`);
    within(rules.host.egressCaps.perMinute, through(judged), MINUTE_MS, `${egress} at the host per minute`);
    if (egress === 'direct') continue;
    within(rules.caps.perHour, through(uses), HOUR_MS, `${egress} per hour`);
    within(rules.caps.perMinute, through(uses), MINUTE_MS, `${egress} per minute`);
  }
  const { concurrency } = rules.host;
  const sharing = rules.asked
    ? uses.filter(({ lease }) => limited !== undefined && lease.heldFrom >= limited)
    : uses;
  check(concurrency === 0 || mostAtOnce(sharing) <= concurrency, `${mostAtOnce(sharing)} at once`);
  judgeDistance(world, rules, check);
  judgeOwners(leases, world, check);
  return broken;
}

type Check = (isRight: boolean, what: string) => void;

function judgeDistance({ uses }: World, { host }: Rules, check: Check): void {
  const inOrder = [...uses].sort((a, b) => a.startedAt - b.startedAt);
  const last = new Map<string, (typeof uses)[number]>();
  for (const use of inOrder) {
    for (const [place, distance] of [
      ['host', host.delayMs],
      [use.lease.grant.egress, host.egressDelayMs],
    ] as const) {
      const before = last.get(place);
      last.set(place, use);
      // What was sent before anybody asked for a distance has none.
      const isKnown = before && (before.lease.grant.spacingMs > 0 || before.startedAt > use.lease.heldFrom);
      if (!isKnown || (use.lease.grant.spacingMs === 0 && before.lease.grant.spacingMs === 0)) continue;
      const gap = use.startedAt - before.startedAt;
      check(gap >= distance, `${place}: ${gap} ms apart, not ${distance}`);
    }
  }
}

function judgeOwners(leases: readonly HeldLease[], { uses }: World, check: Check): void {
  const overlaps = (a: HeldLease, from: number, until: number): boolean =>
    a.heldFrom < until && from < a.heldUntil;
  for (const lease of leases) {
    const { egress, session } = lease.grant;
    if (session) {
      const others = leases.filter((other) => other !== lease && other.grant.session?.id === session.id);
      for (const other of others) {
        check(other.grant.egress === egress, `session ${session.id} through two egresses`);
        check(!overlaps(lease, other.heldFrom, other.heldUntil), `session ${session.id} held twice`);
      }
    }
    if (!lease.exclusive || egress === 'direct') continue;
    for (const use of uses)
      if (use.lease !== lease && use.lease.grant.egress === egress)
        check(
          !overlaps(lease, use.startedAt, use.overAt ?? Infinity),
          `${egress} is exclusive and used by another`,
        );
  }
}
