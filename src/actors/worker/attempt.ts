/**
 * One run of a handler. It ends once: when the handler returns or throws, or, after it was told to end, when it does
 * so or its grace is over. Signal and logger are made when the handler first asks for them: many never do.
 */
import { Failure, isFailureCode, messageOf } from '../../domain/failure.ts';
import type { FollowUp } from '../../domain/task.ts';
import type { AttemptOutcome } from '../../policy/settle.ts';
import { checkItems, storedItem, type EmittedItem } from '../../scrapers/check-items.ts';
import type { Scraper } from '../../scrapers/scraper.ts';
import { readInput } from '../../scrapers/standard-schema.ts';
import { createContext } from './context.ts';
import type { AttemptFetch, Delivery, WorkerPorts } from './ports.ts';

export type Ending =
  | { readonly kind: 'timeout' }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'lock-lost'; readonly failure: Failure }
  | { readonly kind: 'cancelled'; readonly why: string };

export interface Attempt {
  readonly delivery: Delivery;
  readonly scraper: Scraper;
  readonly startedAt: number; // epoch ms
  readonly startedMs: number; // monotonic
  readonly timeoutMs: number;
  /** When the handler last showed life (monotonic ms). */
  livedMs: number;
  /** When it was told to end (monotonic ms). */
  toldMs: number | undefined;
  ending: Ending | undefined;
  ended: boolean;
  controller: AbortController | undefined;
  /** Made when the handler first fetches. */
  fetching: AttemptFetch | undefined;
  /** What the handler wants done next; submitted if it succeeds. */
  readonly followUps: FollowUp[];
  readonly onEnd: (attempt: Attempt, outcome: AttemptOutcome) => void;
}

export interface AttemptParts {
  readonly delivery: Delivery;
  readonly scraper: Scraper;
  readonly timeoutMs: number;
  readonly ports: Pick<WorkerPorts, 'withLock' | 'openFetch' | 'sharedOf' | 'log'>;
  readonly onEnd: (attempt: Attempt, outcome: AttemptOutcome) => void;
}

const NO_INPUT = {};

export function startAttempt({ delivery, scraper, timeoutMs, ports, onEnd }: AttemptParts): Attempt {
  const startedMs = performance.now();
  const attempt: Attempt = {
    delivery,
    scraper,
    startedAt: Date.now(),
    startedMs,
    timeoutMs,
    livedMs: startedMs,
    toldMs: undefined,
    ending: undefined,
    ended: false,
    controller: undefined,
    fetching: undefined,
    followUps: [],
    onEnd,
  };
  // Also what ends at once ends after its start has been noted.
  runHandler(attempt, ports).then(
    (outcome) => end(attempt, outcome),
    (error: unknown) => end(attempt, failedBy(error)),
  );
  return attempt;
}

export function tellToEnd(attempt: Attempt, ending: Ending): void {
  if (attempt.ending || attempt.ended) return;
  attempt.ending = ending;
  attempt.toldMs = performance.now();
  attempt.controller?.abort(reasonOf(ending, attempt));
}

/** Does not wait any longer for a handler that was told to end. */
export function leaveBehind(attempt: Attempt): void {
  end(attempt, failedBy(new Error('left behind')));
}

/** Async, because a handler of plain JavaScript may throw before it returns a promise, or return none. */
async function runHandler(attempt: Attempt, ports: AttemptParts['ports']): Promise<AttemptOutcome> {
  const { delivery, scraper, followUps } = attempt;
  const given = delivery.task.spec.input ?? NO_INPUT;
  const items: EmittedItem[] = [];
  const data = await scraper.run(
    createContext({
      delivery,
      scraper,
      input: scraper.input ? ((await readInput(scraper.input, given)) as typeof given) : given,
      shared: scraper.setup && (await ports.sharedOf?.(scraper)),
      ports,
      items,
      followUps,
      isOver: () => attempt.ended,
      live: () => void (attempt.livedMs = performance.now()),
      signal: () => controllerOf(attempt).signal,
      lockLost: (failure) => tellToEnd(attempt, { kind: 'lock-lost', failure }),
      fetching: () => fetchingOf(attempt, ports),
      session: () => attempt.fetching?.session(),
    }),
  );
  const sorted = scraper.item ? await checkItems(scraper.item, items) : { items: items.map(storedItem) };
  const { pages, bytes } = attempt.fetching?.counts() ?? NOTHING_FETCHED;
  return { kind: 'done', result: { ...sorted, pages, bytes, ...(data !== undefined && { data }) } };
}

function fetchingOf(attempt: Attempt, ports: AttemptParts['ports']): AttemptFetch {
  if (attempt.ended) throw new Failure('CANCELLED', 'the attempt is over');
  if (!ports.openFetch) throw new Failure('INTERNAL', 'this worker cannot fetch');
  const { delivery, scraper } = attempt;
  return (attempt.fetching ??= ports.openFetch({
    task: delivery.task,
    scraper,
    life: controllerOf(attempt),
  }));
}

function controllerOf(attempt: Attempt): AbortController {
  if (!attempt.controller) {
    attempt.controller = new AbortController();
    if (attempt.ending) attempt.controller.abort(reasonOf(attempt.ending, attempt));
  }
  return attempt.controller;
}

function end(attempt: Attempt, outcome: AttemptOutcome): void {
  if (attempt.ended) return;
  attempt.ended = true;
  attempt.fetching?.close();
  attempt.onEnd(attempt, attempt.ending ? outcomeOf(attempt.ending, attempt) : outcome);
}

/** What a handler says after it was told to end may be half of a result, or only the echo of the signal. */
function outcomeOf(ending: Ending, attempt: Attempt): AttemptOutcome {
  if (ending.kind === 'cancelled') return { kind: 'cancelled', why: ending.why };
  const { code, message } = reasonOf(ending, attempt);
  return { kind: 'failed', failure: { code, message } };
}

function reasonOf(ending: Ending, { timeoutMs }: Attempt): Failure {
  switch (ending.kind) {
    case 'timeout':
      return new Failure('TIMEOUT', `not done within ${timeoutMs} ms`);
    case 'stopping':
      return new Failure('CANCELLED', 'the worker stops');
    case 'lock-lost':
      return ending.failure;
    case 'cancelled':
      return new Failure('CANCELLED', ending.why);
  }
}

const NOTHING_FETCHED = { pages: 0, bytes: 0 };

/**
 * Read by its fields: a scraper's own copy of this package has a class of the same name, but not the same class.
 * CANCELLED is not the handler's to say; were it taken at its word, the task would come back at once, for ever.
 */
function failedBy(error: unknown): AttemptOutcome {
  const { name, code, retryAtMs, proxy } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const known = name === 'Failure' && isFailureCode(code) && code !== 'CANCELLED';
  return {
    kind: 'failed',
    failure: {
      code: known ? code : 'INTERNAL',
      message: messageOf(error),
      ...(typeof retryAtMs === 'number' && { retryAtMs }),
    },
    ...(typeof proxy === 'string' && { proxy }),
  };
}
