/**
 * A world around the book: a store, leaders that come and go with clocks of their own, workers that use what they were
 * granted as late and as oddly as they may, lose reports, repeat them and die; and sites that remember what they saw.
 */
import { createBook, type EgressBook } from '../../src/policy/egress/book.ts';
import { BOOK_DEFAULTS, type BookLimits } from '../../src/policy/egress/limits.ts';
import type { EgressRecord } from '../../src/policy/egress/records.ts';
import type { EgressReport, LeaseGrant, Started, Use, Want } from '../../src/wire/egress.ts';
import type { Random } from './random.ts';

export interface SiteUse {
  readonly lease: HeldLease;
  readonly startedAt: number;
  /** The site saw it somewhere between its start and its end. */
  seenAt: number;
  overAt: number | undefined;
}

export interface HeldLease {
  readonly grant: LeaseGrant;
  readonly worker: string;
  readonly scraper: string;
  readonly exclusive: boolean;
  readonly heldFrom: number;
  heldUntil: number;
  validUntil: number;
  nextStartAt: number;
  permitsLeft: number;
  started: number;
  latestStartAt: number;
  sent: number;
  readonly underWay: Set<SiteUse>;
  over: boolean;
  gone: boolean;
}

interface Message {
  readonly report: EgressReport;
  readonly sentAt: number;
}

interface Worker {
  readonly name: string;
  readonly leases: Set<HeldLease>;
  uses: (Omit<Use, 'startedAgoMs'> & { startedAt: number })[];
  readonly queue: Message[];
  readonly told: Message[];
}

export interface World {
  readonly uses: SiteUse[];
  readonly leases: HeldLease[];
  readonly limits: BookLimits;
  now(): number;
  book(): EgressBook;
  /** The leader's own time. */
  at(): number;
  pass(ms: number): void;
  /** False: the leader fell before it could answer. */
  ask(worker: number, wants: readonly Want[]): boolean;
  useSome(): void;
  finishSome(): void;
  sendReport(worker: number): void;
  deliver(worker: number): void;
  repeat(worker: number): void;
  giveBack(worker: number): void;
  renew(worker: number): void;
  die(worker: number): void;
  fail(): void;
  store(): void;
}

export function createWorld(random: Random, options: Partial<BookLimits>, workerCount: number): World {
  const limits = { ...BOOK_DEFAULTS, ...options };
  const stored = new Map<string, { record: EgressRecord; until: number }>();
  const workers = Array.from({ length: workerCount }, (_, index) => createWorker(`w${index}`));
  const uses: SiteUse[] = [];
  const leases: HeldLease[] = [];
  let now = 1_700_000_000_000;
  let term = 0;
  let offset = 0;
  let book = lead();

  return {
    uses,
    leases,
    limits,
    now: () => now,
    book: () => book,
    at,
    pass(ms) {
      now += ms;
      for (const use of uses)
        if (use.overAt === undefined && now > deadlineOf(use)) finish(use, deadlineOf(use));
      if (random.chance(0.5)) book.tick(at());
    },
    ask,
    useSome() {
      for (const worker of workers)
        for (const lease of worker.leases) if (random.chance(0.6)) startOne(lease);
    },
    finishSome() {
      for (const worker of workers)
        for (const lease of worker.leases)
          for (const use of lease.underWay) if (random.chance(0.5)) finish(use, now);
    },
    sendReport: (index) => send(workerAt(index), {}),
    deliver: (index) => deliver(workerAt(index)),
    repeat(index) {
      const { told } = workerAt(index);
      const old = told[random.int(0, told.length - 1)];
      if (old) book.report(old.report, at());
    },
    giveBack(index) {
      const worker = workerAt(index);
      const idle = [...worker.leases].filter((lease) => lease.underWay.size === 0 && random.chance(0.5));
      for (const lease of idle) {
        end(worker, lease);
        lease.heldUntil = Math.min(lease.heldUntil, now);
      }
      send(worker, { done: idle.map(({ grant }) => grant.id) });
    },
    renew: (index) =>
      send(workerAt(index), { renew: [...workerAt(index).leases].map(({ grant }) => grant.id) }),
    die(index) {
      const worker = workerAt(index);
      for (const lease of worker.leases) {
        for (const use of [...lease.underWay]) finish(use, now);
        end(worker, lease);
      }
      workers[index] = createWorker(`${worker.name}x`);
    },
    fail() {
      book = lead();
    },
    store,
  };

  function createWorker(name: string): Worker {
    return { name, leases: new Set(), uses: [], queue: [], told: [] };
  }

  function workerAt(index: number): Worker {
    const worker = workers[index];
    if (!worker) throw new Error('no such worker');
    return worker;
  }

  function at(): number {
    return now + offset;
  }

  function lead(): EgressBook {
    term += 1;
    offset = random.int(0, limits.skewMs) - limits.skewMs / 2;
    const next = createBook(limits, `t${term}`);
    const alive = [...stored.values()].filter(({ until }) => until > now);
    next.load(
      alive.map(({ record }) => record),
      at(),
    );
    return next;
  }

  function store(): void {
    for (const write of book.takeWrites(at())) {
      if (write.kind === 'remove') stored.delete(write.key);
      else stored.set(write.key, { record: write.record, until: now + (write.ttlMs ?? Infinity) });
    }
  }

  function ask(index: number, wants: readonly Want[]): boolean {
    const worker = workerAt(index);
    const reply = book.acquire({ worker: worker.name, machine: 'm', wants }, at(), () => random.next());
    if (random.chance(0.05)) {
      book = lead();
      return false;
    }
    store();
    reply.answers.forEach((answer, place) => {
      const want = wants[place];
      if (answer.kind !== 'granted' || !want) return;
      for (const grant of answer.leases) take(worker, grant, want);
    });
    return true;
  }

  function take(worker: Worker, grant: LeaseGrant, want: Want): void {
    const lease: HeldLease = {
      grant,
      worker: worker.name,
      scraper: want.scraper,
      exclusive: want.exclusive,
      heldFrom: now,
      heldUntil: now + grant.validMs + limits.flightMs,
      validUntil: now + grant.validMs,
      nextStartAt: now + grant.startInMs,
      permitsLeft: grant.permits ?? Infinity,
      started: 0,
      latestStartAt: 0,
      sent: 0,
      underWay: new Set(),
      over: false,
      gone: false,
    };
    worker.leases.add(lease);
    leases.push(lease);
  }

  function startOne(lease: HeldLease): void {
    const { grant } = lease;
    const isLate = now < lease.nextStartAt || now >= lease.validUntil;
    if (lease.over || isLate || lease.permitsLeft <= 0) return;
    if (grant.slots !== null && lease.underWay.size >= grant.slots) return;
    lease.permitsLeft -= 1;
    lease.started += 1;
    lease.latestStartAt = now;
    lease.nextStartAt = now + grant.spacingMs * (1 + grant.jitter * random.next());
    const use: SiteUse = { lease, startedAt: now, seenAt: now, overAt: undefined };
    lease.underWay.add(use);
    uses.push(use);
  }

  function deadlineOf({ lease }: SiteUse): number {
    return lease.validUntil + limits.flightMs;
  }

  function finish(use: SiteUse, overAt: number): void {
    const { lease } = use;
    use.overAt = overAt;
    use.seenAt = random.pick([use.startedAt, overAt, random.int(use.startedAt, Math.floor(overAt))]);
    lease.underWay.delete(use);
    const outcome = random.chance(0.9) ? 'ok' : 'target';
    const worker = workers.find(({ name }) => name === lease.worker);
    worker?.uses.push({ lease: lease.grant.id, n: lease.sent, outcome, startedAt: use.startedAt, ms: 10 });
    lease.sent += 1;
  }

  function end(worker: Worker, lease: HeldLease): void {
    worker.leases.delete(lease);
    lease.over = true;
    lease.gone = true;
  }

  function send(
    worker: Worker,
    { done = [], renew = [] }: Partial<Pick<EgressReport, 'done' | 'renew'>>,
  ): void {
    const started: Started[] = [...worker.leases]
      .filter((lease) => lease.started > 0 && random.chance(0.5))
      .map(({ grant, started: count, latestStartAt }) => ({
        lease: grant.id,
        count,
        latestAgoMs: now - latestStartAt,
      }));
    const report: EgressReport = {
      worker: worker.name,
      uses: worker.uses.map(({ startedAt, ...use }) => ({ ...use, startedAgoMs: now - startedAt })),
      ...(started.length > 0 && { started }),
      done,
      renew,
      sessions: [],
      robots: [],
    };
    worker.uses = [];
    worker.queue.push({ report, sentAt: now });
  }

  /** In order, and again until it was answered. */
  function deliver(worker: Worker): void {
    const message = worker.queue[0];
    if (!message) return;
    const reply = book.report(message.report, at());
    worker.told.push(message);
    if (random.chance(0.1)) {
      book = lead();
      return;
    }
    store();
    worker.queue.shift();
    for (const lease of worker.leases) {
      const { id, validMs } = lease.grant;
      if (reply.ended.includes(id)) lease.over = true;
      else if (message.report.renew.includes(id) && !lease.over) {
        lease.validUntil = Math.max(lease.validUntil, message.sentAt + validMs);
        lease.heldUntil = Math.max(lease.heldUntil, lease.validUntil + limits.flightMs);
      }
      if (lease.underWay.size === 0 && now > lease.validUntil) worker.leases.delete(lease);
    }
  }
}

/** The most that any window of this length holds. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  let most = 0;
  let from = 0;
  sorted.forEach((time, index) => {
    while ((sorted[from] ?? time) <= time - windowMs) from += 1;
    most = Math.max(most, index - from + 1);
  });
  return most;
}

/** The most that are under way at once. */
export function mostAtOnce(uses: readonly SiteUse[]): number {
  const turns = uses
    .flatMap(({ startedAt, overAt }) => [
      { at: startedAt, by: 1 },
      { at: overAt ?? Infinity, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let running = 0;
  return turns.reduce((most, { by }) => Math.max(most, (running += by)), 0);
}
