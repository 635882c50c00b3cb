/** What a handler works with. Its members are its own, and need no `this`: handlers take the context apart and pass parts of it on. */
import { Failure } from '../../domain/failure.ts';
import type { FollowUp } from '../../domain/task.ts';
import type { EmittedItem } from '../../scrapers/check-items.ts';
import { crawlOf } from '../../scrapers/crawl-keeper.ts';
import { createEnqueue, type EnqueueAny } from '../../scrapers/enqueue.ts';
import type { Fetch, ParsedPage } from '../../scrapers/page.ts';
import { parsePage } from '../../scrapers/parse-page.ts';
import type { Scraper, ScraperContext } from '../../scrapers/scraper.ts';
import type { Log } from '../../telemetry/log.ts';
import type { AttemptFetch, Delivery, WorkerPorts } from './ports.ts';

export interface ContextParts {
  readonly delivery: Delivery;
  readonly scraper: Scraper;
  readonly input: ScraperContext['input'];
  readonly shared: unknown;
  readonly ports: Pick<WorkerPorts, 'withLock' | 'log'>;
  /** What it emits and enqueues is noted here. */
  readonly items: EmittedItem[];
  readonly followUps: FollowUp[];
  readonly isOver: () => boolean;
  readonly live: () => void;
  readonly signal: () => AbortSignal;
  readonly lockLost: (failure: Failure) => void;
  /** Opened when it first fetches. */
  readonly fetching: () => AttemptFetch;
  readonly session: () => ScraperContext['session'];
}

const LAZY = Symbol('lazy');

/** What is made when a handler first asks for it. */
interface Lazy {
  readonly parts: ContextParts;
  log: Log | undefined;
  enqueue: EnqueueAny | undefined;
}

type Asked = Pick<ScraperContext, 'session' | 'enqueue' | 'signal' | 'log'>;

/**
 * Shared by all contexts, and yet the own members of each. Getters in a literal would be new functions for every task,
 * and every task's context a shape of its own, which costs more than the rest of a task that does nothing.
 */
const asked: { readonly [Name in keyof Asked]: PropertyDescriptor } = {
  session: lazily(({ parts }) => parts.session()),
  enqueue: lazily((lazy) => (lazy.enqueue ??= openEnqueue(lazy.parts))),
  signal: lazily(({ parts }) => parts.signal()),
  log: lazily((lazy) => (lazy.log ??= openLog(lazy.parts))),
};

function lazily(make: (lazy: Lazy) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: { readonly [LAZY]: Lazy }) {
      return make(this[LAZY]);
    },
  };
}

export function createContext(parts: ContextParts): ScraperContext {
  const { delivery, ports, live } = parts;
  const { spec, faults } = delivery.task;
  let page: Promise<ParsedPage> | undefined;

  // Async, so that what is wrong with the request is a rejection like everything else.
  const fetch: Fetch = async (url, options) => {
    live();
    const fetched = await parts.fetching().fetch(url, options);
    live();
    return fetched;
  };

  const context: Omit<ScraperContext, keyof Asked> & { readonly [LAZY]: Lazy } = {
    [LAZY]: { parts, log: undefined, enqueue: undefined },
    task: spec,
    url: spec.url,
    input: parts.input,
    attempt: faults.length + 1,
    fetch,
    page() {
      if (!page) {
        page = fetchOwn(fetch, spec.url, () => openLog(parts));
        page.catch(() => (page = undefined));
      }
      return page;
    },
    json: async (url, options) => (await fetch(url, options)).json(),
    emit(...given: readonly [unknown] | readonly [string, unknown]) {
      if (parts.isOver()) return;
      const [first, second] = given;
      parts.items.push(given.length === 1 ? { data: first } : { kind: String(first), data: second });
    },
    progress: live,
    withLock: (key, use) => ports.withLock({ key, signal: parts.signal(), onLost: parts.lockLost }, use),
    shared: parts.shared,
  };
  return Object.defineProperties(context, asked) as typeof context & Asked;
}

function openLog({ ports, delivery }: ContextParts): Log {
  const { id, run, scraper } = delivery.task.spec;
  return ports.log.child({ task: id, run, scraper });
}

async function fetchOwn(fetch: Fetch, url: string | undefined, log: () => Log): Promise<ParsedPage> {
  if (url !== undefined) return parsePage(await fetch(url), log);
  throw new Failure('INVALID', 'the task has no URL, so it has no page', { hint: 'Submit it with a url.' });
}

/** What is enqueued after the end of the attempt would be submitted by nobody. */
function openEnqueue({ delivery, scraper, followUps, isOver }: ContextParts): EnqueueAny {
  const { spec } = delivery.task;
  const { follow, budget } = crawlOf(scraper, spec.url !== undefined);
  const enqueue = createEnqueue({ task: spec, follow, budget, noted: followUps });
  return (first: unknown, second?: unknown) => {
    if (isOver()) throw new Failure('CANCELLED', 'the attempt is over');
    return enqueue(first, second);
  };
}
