/**
 * What the manager must hear, in batches: every 100 ms, at once for what concerns others, and again until it has
 * answered. A use that is reported twice is counted once, so saying it again is safe.
 */
import type { Clock } from '../runtime/clock.ts';
import type { EgressReport, ReportReply, RobotsNews, SessionNews, Started, Use } from '../wire/egress.ts';

export interface NewUse extends Omit<Use, 'startedAgoMs' | 'times'> {
  readonly startedAt: number; // monotonic ms
}

/** One use, or several that went the same way. */
interface Uses extends NewUse {
  startedAt: number;
  ms: number;
  times: number;
}

export interface NewStart extends Omit<Started, 'latestAgoMs'> {
  readonly latestAt: number; // monotonic ms
}

export interface ReportQueue {
  /** `alike`: nothing but its number tells it from the one before; under one lease they are told as one. */
  use(use: NewUse, options?: { readonly urgent?: boolean; readonly alike?: boolean }): void;
  started(start: NewStart): void;
  done(lease: string): void;
  renew(lease: string): void;
  session(news: SessionNews): void;
  robots(news: RobotsNews): void;
  /** Sends what is there now. Resolves when it was answered, or was not within a few tries. */
  flush(): Promise<void>;
  /** What nobody has answered by now is not said again: what it is about ends by itself. */
  close(): void;
  isEmpty(): boolean;
  /** Something in it changes what the manager would grant now. */
  isPressing(): boolean;
}

export interface ReportParts {
  readonly worker: string;
  readonly clock: Clock;
  /** Undefined: nobody has answered. */
  readonly send: (report: EgressReport) => Promise<ReportReply | undefined>;
  readonly onReply: (reply: ReportReply, told: { renewed: readonly string[]; sentAt: number }) => void;
}

interface Batch {
  uses: Uses[];
  started: NewStart[];
  done: string[];
  renew: string[];
  sessions: SessionNews[];
  robots: RobotsNews[];
}

const EVERY_MS = 100;
const RETRY_MAX_MS = 2_000;
const BATCH_MAX = 500;
/** The manager has been away for long when so much has piled up; the leases concerned have expired at its side. */
const KEEP_MAX = 20_000;
const FLUSH_TRIES = 3;

export function createReportQueue({ worker, clock, send, onReply }: ReportParts): ReportQueue {
  const waiting: Batch = { uses: [], started: [], done: [], renew: [], sessions: [], robots: [] };
  /** By lease, of those that are alike and wait. */
  const latest = new Map<string, Uses>();
  let sending: Promise<boolean> | undefined;
  let cancelTimer: (() => void) | undefined;
  let failures = 0;
  let pressing = false;
  let closed = false;

  return {
    use(use, { urgent = false, alike = false } = {}) {
      if (!alike || !joinTo(latest.get(use.lease), use)) {
        const first = { ...use, times: 1 };
        waiting.uses.push(first);
        if (alike) latest.set(use.lease, first);
      }
      if (urgent) {
        pressing = true;
        void sendNext();
      } else plan(EVERY_MS);
    },
    started(start) {
      waiting.started.push(start);
      plan(EVERY_MS);
    },
    done(lease) {
      pressing = true;
      waiting.done.push(lease);
      plan(EVERY_MS);
    },
    renew(lease) {
      if (!waiting.renew.includes(lease)) waiting.renew.push(lease);
      plan(EVERY_MS);
    },
    session(news) {
      waiting.sessions.push(news);
      plan(EVERY_MS);
    },
    robots(news) {
      waiting.robots.push(news);
      plan(0);
    },
    flush,
    close() {
      closed = true;
      cancelTimer?.();
    },
    isEmpty: () => isEmpty(waiting) && !sending,
    isPressing: () => pressing,
  };

  function plan(ms: number): void {
    if (closed) return;
    cancelTimer ??= clock.after(ms, () => {
      cancelTimer = undefined;
      void sendNext();
    });
  }

  async function flush(): Promise<void> {
    for (let tries = 0; tries < FLUSH_TRIES && !(isEmpty(waiting) && !sending); tries += 1) {
      // What is under way may have left before the last words were added.
      if (sending) await sending;
      if (!isEmpty(waiting)) await sendNext();
    }
  }

  function sendNext(): Promise<boolean> {
    if (sending) return sending.then((answered) => (answered ? sendNext() : false));
    if (isEmpty(waiting)) return Promise.resolve(true);
    cancelTimer?.();
    cancelTimer = undefined;
    const batch = take(waiting);
    latest.clear();
    const sentAt = clock.now();
    sending = send({
      worker,
      uses: batch.uses.map(({ startedAt, ...use }) => ({
        ...use,
        startedAgoMs: Math.max(0, sentAt - startedAt),
      })),
      started: batch.started.map(({ latestAt, ...start }) => ({
        ...start,
        latestAgoMs: Math.max(0, sentAt - latestAt),
      })),
      done: batch.done,
      renew: batch.renew,
      sessions: batch.sessions,
      robots: batch.robots,
    }).then(
      (reply) => settle(batch, sentAt, reply),
      () => settle(batch, sentAt, undefined),
    );
    return sending;
  }

  function settle(batch: Batch, sentAt: number, reply: ReportReply | undefined): boolean {
    sending = undefined;
    if (reply) {
      failures = 0;
      if (isEmpty(waiting)) pressing = false;
      onReply(reply, { renewed: batch.renew, sentAt });
    } else {
      failures += 1;
      putBack(waiting, batch);
    }
    if (!isEmpty(waiting)) plan(reply ? EVERY_MS : Math.min(RETRY_MAX_MS, EVERY_MS * 2 ** failures));
    return reply !== undefined;
  }
}

/** False: it does not follow on that one. */
function joinTo(before: Uses | undefined, use: NewUse): boolean {
  if (!before || before.n + before.times !== use.n || before.status !== use.status) return false;
  before.times += 1;
  before.startedAt = Math.max(before.startedAt, use.startedAt);
  before.ms += (use.ms - before.ms) / before.times;
  return true;
}

function isEmpty({ uses, started, done, renew, sessions, robots }: Batch): boolean {
  return uses.length + started.length + done.length + renew.length + sessions.length + robots.length === 0;
}

/** A lease is given back only once all that was done under it has been told: the rest counts as never sent. */
function take(from: Batch): Batch {
  const uses = from.uses.splice(0, BATCH_MAX);
  const told = from.uses.length === 0;
  return {
    uses,
    started: from.started.splice(0),
    done: told ? from.done.splice(0) : [],
    renew: from.renew.splice(0),
    sessions: from.sessions.splice(0, BATCH_MAX),
    robots: from.robots.splice(0),
  };
}

function putBack(into: Batch, batch: Batch): void {
  into.uses = [...batch.uses, ...into.uses].slice(-KEEP_MAX);
  into.started = [...batch.started, ...into.started].slice(-KEEP_MAX);
  into.done = [...batch.done, ...into.done].slice(-KEEP_MAX);
  into.sessions = [...batch.sessions, ...into.sessions].slice(-KEEP_MAX);
  into.robots = [...batch.robots, ...into.robots].slice(-KEEP_MAX);
  // A renewal is asked for again when its time comes.
}
