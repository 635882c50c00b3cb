/**
 * The rounds of a term: take what waits, let the book decide, store what it wrote, and only then answer. What comes in
 * while a round is stored waits for the next one and shares its store: the busier, the larger the rounds.
 *
 *   collecting → deciding → (writes?) storing → answering → collecting
 *                             └ not stored, or nobody knows: nothing is answered, the term ends
 */
import { Failure } from '../../domain/failure.ts';
import type { EgressBook } from '../../policy/egress/book.ts';
import type { AcquireReply } from '../../wire/egress.ts';
import type { Counter, EgressTerm, ProxyManagerPorts } from './ports.ts';
import { createAlarm } from './alarm.ts';
import { describeNews } from './news.ts';

export interface Rounds {
  readonly counter: Counter;
  /** Goes on until the term is over; throws when a round could not be stored. */
  run(over: AbortSignal): Promise<void>;
  /** After each round: the time of the book has moved. */
  onRound(listener: () => void): void;
}

/** One thing to do in a round. `decide` says what to tell when the round is stored. */
interface Item {
  decide(now: number): () => void;
  fail(reason: Failure): void;
}

const ROUND_MAX = 512;
const WAITING_MAX = 8_192;
const BUSY_RETRY_MS = 1_000;
/** The book is told of the time at least this often. */
const TICK_MAX_MS = 5_000;

type Parts = Pick<ProxyManagerPorts, 'now' | 'random' | 'meters' | 'log' | 'announce' | 'broadcast'> & {
  readonly book: EgressBook;
  readonly commit: EgressTerm['commit'];
  /** Adds the addresses to what was granted. */
  address(reply: AcquireReply): AcquireReply;
};

export function createRounds(parts: Parts): Rounds {
  const { book, now, meters, log } = parts;
  const alarm = createAlarm();
  let waiting: Item[] = [];
  let ended: Failure | undefined;
  let afterRound = (): void => undefined;

  return {
    counter: {
      acquire: (request) =>
        hasRoom()
          ? queue((at) => parts.address(book.acquire(request, at, parts.random)), countAnswers)
          : Promise.resolve(refuseAll(request.wants.length)),
      report: (report) => queue((at) => book.report(report, at)),
      change: (apply) => queue((at) => apply(book, at)),
      look: (read) => read(book, now()),
    },
    run,
    onRound: (listener) => void (afterRound = listener),
  };

  function hasRoom(): boolean {
    return waiting.length < WAITING_MAX;
  }

  function queue<T>(act: (at: number) => T, told?: (answer: T) => void): Promise<T> {
    if (ended) return Promise.reject(ended);
    if (!hasRoom())
      return Promise.reject(
        new Failure('THROTTLED', `${WAITING_MAX} questions wait for the proxy-manager already`),
      );
    return new Promise((resolve, reject) => {
      waiting.push({
        fail: reject,
        decide(at) {
          const answer = act(at);
          return () => {
            told?.(answer);
            resolve(answer);
          };
        },
      });
      alarm.ring();
    });
  }

  async function run(over: AbortSignal): Promise<void> {
    const stop = (): void => alarm.ring();
    over.addEventListener('abort', stop);
    try {
      for (let nextAt = now(); ; nextAt = await round()) {
        if (waiting.length === 0) await alarm.wait(Math.min(TICK_MAX_MS, nextAt - now()));
        if (over.aborted) return;
      }
    } finally {
      over.removeEventListener('abort', stop);
      ended = new Failure('UNAVAILABLE', 'this proxy-manager no longer leads; ask again');
      for (const item of waiting.splice(0)) item.fail(ended);
    }
  }

  /** When the book wants to be told of the time again. */
  async function round(): Promise<number> {
    const began = performance.now();
    const at = now();
    const nextAt = book.tick(at) ?? Infinity;
    const items = waiting.slice(0, ROUND_MAX);
    waiting = waiting.slice(ROUND_MAX);
    const answers = items.map((item) => ({ item, answer: decide(item, at) }));
    const writes = book.takeWrites(at);
    try {
      if (writes.length > 0) await parts.commit(writes);
      // Others need their turn too: the lock is renewed on this thread.
      else if (items.length > 0) await new Promise(setImmediate);
    } catch (error) {
      const gone = new Failure('UNAVAILABLE', 'it could not be stored; ask again', { cause: error });
      for (const { item } of answers) item.fail(gone);
      throw error;
    }
    for (const { answer } of answers) answer?.();
    if (items.length > 0) meters.round(performance.now() - began);
    tell(at);
    afterRound();
    return nextAt;
  }

  /** A question that cannot be decided harms nobody but who asked it. */
  function decide(item: Item, at: number): (() => void) | undefined {
    try {
      return item.decide(at);
    } catch (error) {
      if (error instanceof Failure) item.fail(error);
      else {
        log.error('egress.undecided', { reason: error });
        item.fail(new Failure('INTERNAL', 'the proxy-manager could not decide this', { cause: error }));
      }
      return undefined;
    }
  }

  function tell(at: number): void {
    const events = book.takeEvents();
    if (events.length === 0) return;
    for (const event of events) parts.announce(event);
    const news = describeNews(events, { leases: () => book.leases(), now: at });
    if (news) parts.broadcast(news);
  }

  function countAnswers({ answers }: AcquireReply): void {
    for (const answer of answers) {
      if (answer.kind === 'granted') meters.granted(answer.leases.length);
      else meters.denied(answer.reason);
    }
  }

  /** Each a little later than the one before: they shall not all come again at once. */
  function refuseAll(count: number): AcquireReply {
    const answers = Array.from({ length: count }, () => {
      const retryInMs = Math.round(BUSY_RETRY_MS * (1 + parts.random()));
      return { kind: 'none', reason: 'host_busy', retryInMs } as const;
    });
    return { answers };
  }
}
