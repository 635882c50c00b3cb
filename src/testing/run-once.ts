/** One task of a scraper, here and now: the attempt that a worker would make, without a queue, a ledger or a cluster. */
import { leaveBehind, startAttempt, tellToEnd, type Ending } from '../actors/worker/attempt.ts';
import type { Delivery } from '../actors/worker/ports.ts';
import { Failure } from '../domain/failure.ts';
import { depthAfter, type FollowUp, type TaskResult, type TaskSpec } from '../domain/task.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { AttemptOutcome } from '../policy/settle.ts';
import type { Scraper } from '../scrapers/scraper.ts';
import { createSharedKeeper } from '../scrapers/shared-keeper.ts';
import type { Log } from '../telemetry/log.ts';
import { encodeJson } from '../wire/codec.ts';
import { parseSubmission } from '../wire/submission.ts';
import { SUBMISSION_LIMITS } from '../wire/submission-fields.ts';

export interface OnceTask {
  readonly url?: string | undefined;
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly key?: string | undefined;
  /** How many tasks led to it. */
  readonly depth?: number | undefined;
}

export interface OnceParts {
  readonly fetcher: Fetcher;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface OnceOutcome {
  readonly result: TaskResult | undefined;
  readonly enqueued: readonly (FollowUp & { readonly depth: number })[];
  /** What the handler threw, as the worker reads it. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** The same as it was thrown. */
  readonly cause: unknown;
  readonly ms: number;
}

const RUN = 'local';
const ABORT_GRACE_MS = 5_000;

export async function runOnce(scraper: Scraper, task: OnceTask, parts: OnceParts): Promise<OnceOutcome> {
  const { fetcher, log } = parts;
  const spec = specOf(scraper.name, task);
  const shared = createSharedKeeper(log);
  const thrown: { error?: unknown } = {};
  const startedMs = performance.now();
  try {
    const ended = await attempt(spied(scraper, thrown), spec, {
      ...parts,
      ports: {
        withLock: ({ signal }, use) => use(signal),
        openFetch: (opened) => fetcher.open({ ...opened, scraper }),
        sharedOf: () => shared.of(scraper),
        log,
      },
    });
    const { outcome, followUps } = ended;
    const isDone = outcome.kind === 'done';
    return {
      result: isDone ? outcome.result : undefined,
      enqueued: isDone ? followUps.map((each) => ({ ...each, depth: depthAfter(spec, each) })) : [],
      error: errorOf(outcome),
      cause: thrown.error,
      ms: performance.now() - startedMs,
    };
  } finally {
    await shared.close();
  }
}

type AttemptPorts = Parameters<typeof startAttempt>[0]['ports'];

function attempt(
  scraper: Scraper,
  spec: TaskSpec,
  { ports, timeoutMs, signal }: OnceParts & { readonly ports: AttemptPorts },
): Promise<{ readonly outcome: AttemptOutcome; readonly followUps: readonly FollowUp[] }> {
  return new Promise((resolve) => {
    const limit = scraper.timeoutMs ?? timeoutMs;
    const timers: NodeJS.Timeout[] = [];
    const tell = (ending: Ending): void => {
      tellToEnd(started, ending);
      timers.push(setTimeout(() => leaveBehind(started), ABORT_GRACE_MS));
    };
    const stop = (): void => tell({ kind: 'cancelled', why: 'it was interrupted' });
    const started = startAttempt({
      delivery: deliveryOf(spec),
      scraper,
      timeoutMs: limit,
      ports,
      onEnd({ followUps }, outcome) {
        for (const timer of timers) clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        resolve({ outcome, followUps });
      },
    });
    timers.push(setTimeout(() => tell({ kind: 'timeout' }), limit));
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}

/** The scraper itself, but what it throws is seen. */
function spied(scraper: Scraper, thrown: { error?: unknown }): Scraper {
  return Object.create(scraper, {
    run: {
      value: async (context: Parameters<Scraper['run']>[0]): Promise<unknown> => {
        try {
          return await scraper.run(context);
        } catch (error) {
          thrown.error = error;
          throw error;
        }
      },
    },
  }) as Scraper;
}

function errorOf(outcome: AttemptOutcome): OnceOutcome['error'] {
  if (outcome.kind === 'done') return undefined;
  if (outcome.kind === 'cancelled') return { code: 'CANCELLED', message: outcome.why };
  const { code, message } = outcome.failure;
  return { code, message };
}

/** As it would be read if it were submitted. */
function specOf(scraper: string, { depth, ...task }: OnceTask): TaskSpec {
  const { requests, problems } = parseSubmission({
    subject: { scraper },
    headers: () => undefined,
    data: encodeJson([task.url === undefined && task.key === undefined ? { input: {}, ...task } : task]),
    now: Date.now(),
    limits: SUBMISSION_LIMITS,
  });
  const [request] = requests;
  if (!request) throw new Failure('INVALID', problems[0]?.reason ?? 'there is no task');
  return { ...request, run: RUN, createdAt: Date.now(), ...(depth !== undefined && { depth }) };
}

function deliveryOf(spec: TaskSpec): Delivery {
  const now = performance.now();
  const task = { spec, acceptSeq: 0, faults: [], triedProxies: [], deferrals: 0 };
  return { task, lane: spec.priority, deliveries: 1, reply: '', receivedAt: now, leasedAt: now };
}
