/**
 * `call`: one scrape now, its answer as the reply, nothing of it stored. A worker that has the scraper is chosen by the
 * strategy; one that is full is passed over, and one that is lost in the middle is followed by another, once.
 */
import * as v from 'valibot';
import type { Beat } from '../domain/beat.ts';
import { Failure } from '../domain/failure.ts';
import type { CallReply } from '../nats/call-worker.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { LivenessLimits } from '../policy/liveness.ts';
import { decideNextTry, orderWorkers, pickFitWorkers, type Fit, type Try } from '../policy/route-call.ts';
import { readCall, type CallRequest } from './read-call.ts';

export interface CallPorts {
  readonly beats: () => Promise<readonly Beat[]>;
  /** How many handlers each of these runs now. */
  readonly loads: (workers: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly ask: (worker: string, body: object, limitMs: number) => Promise<CallReply>;
  readonly liveness: LivenessLimits;
  readonly now: () => number; // epoch ms
  readonly random: () => number;
}

/** What waits here costs a little memory each. */
const CALLS_MAX = 1_000;
/** A worker that ends a handler at the limit has a moment to say so. */
const ANSWER_EXTRA_MS = 7_000;
const ANSWER_MIN_MS = 100;

const workerAnswer = v.variant('state', [
  v.looseObject({ state: v.literal('refused'), reason: v.string() }),
  v.looseObject({
    state: v.literal('done'),
    ms: v.number(),
    followUps: v.number(),
    result: v.looseObject({ items: v.array(v.unknown()) }),
  }),
  v.looseObject({
    state: v.literal('failed'),
    ms: v.number(),
    error: v.looseObject({ code: v.string(), message: v.string() }),
  }),
]);
const problemAnswer = v.object({ error: v.object({ code: v.string(), message: v.string() }) });

export function createCallServices(ports: CallPorts): Record<string, Verb> {
  let open = 0;
  let turn = 0;
  return {
    async call(body) {
      const request = readCall(body, ports.now());
      if (open >= CALLS_MAX)
        throw new Failure('THROTTLED', `${CALLS_MAX} calls wait for their answer`, {
          hint: 'Call again when some of them have ended, or submit tasks instead.',
        });
      open += 1;
      try {
        return await route(request, body as object);
      } finally {
        open -= 1;
      }
    },
  };

  async function route({ spec, strategy, timeoutMs }: CallRequest, body: object): Promise<object> {
    const { scraper } = spec;
    const until = ports.now() + timeoutMs;
    const when = { now: ports.now(), limits: ports.liveness };
    const fit = pickFitWorkers(await ports.beats(), scraper, when);
    if (!fit.ok) throw explainNone(scraper, fit);
    const loads = strategy === 'least_loaded' ? await ports.loads(fit.workers) : new Map<string, number>();
    const order = orderWorkers(fit.workers, { strategy, turn: turn++, random: ports.random(), loads });
    const tries: (Try & { readonly reason: string })[] = [];
    for (;;) {
      const next = decideNextTry(order, tries);
      if (next.action === 'give-up') throw explainEnd(scraper, tries);
      const { worker } = next;
      const leftMs = Math.max(ANSWER_MIN_MS, until - ports.now());
      const reply = await ports.ask(worker, { ...body, timeoutMs: leftMs }, leftMs + ANSWER_EXTRA_MS);
      if (reply.kind === 'lost') {
        tries.push({ worker, end: 'lost', reason: 'did not answer, or went away' });
        continue;
      }
      const answer = readWorkerAnswer(worker, reply.body);
      if (answer.state === 'refused') tries.push({ worker, end: 'refused', reason: answer.reason });
      else return describe({ scraper, worker, tries }, answer);
    }
  }
}

type WorkerAnswer = v.InferOutput<typeof workerAnswer>;

function describe(
  facts: { scraper: string; worker: string; tries: readonly (Try & { readonly reason: string })[] },
  answer: Exclude<WorkerAnswer, { state: 'refused' }>,
): object {
  const passedOver = facts.tries.map(({ worker, reason }) => ({ worker, reason }));
  const common = {
    state: answer.state,
    scraper: facts.scraper,
    worker: facts.worker,
    passedOver,
    ms: answer.ms,
  };
  return answer.state === 'failed'
    ? { ...common, items: [], error: answer.error }
    : { ...common, ...answer.result, followUps: answer.followUps };
}

function readWorkerAnswer(worker: string, body: unknown): WorkerAnswer {
  const parsed = v.safeParse(workerAnswer, body);
  if (parsed.success) return parsed.output;
  const problem = v.safeParse(problemAnswer, body);
  throw new Failure(
    'INTERNAL',
    problem.success
      ? `worker ${worker}: ${problem.output.error.message}`
      : `worker ${worker} gave an answer that cannot be read`,
  );
}

function explainNone(scraper: string, { reason, scrapers }: Exclude<Fit, { ok: true }>): Failure {
  if (reason === 'unknown-scraper')
    return new Failure('INVALID', `no worker that is alive has the scraper ${scraper}`, {
      hint: `They have: ${scrapers.join(', ') || 'none'}.`,
    });
  return new Failure(
    'UNAVAILABLE',
    reason === 'no-workers'
      ? 'no worker is alive'
      : `the workers that have ${scraper} are paused, or about to stop`,
    { hint: '`trawl status` shows them; `trawl worker` starts one.' },
  );
}

function explainEnd(scraper: string, tries: readonly (Try & { readonly reason: string })[]): Failure {
  const said = tries.map(({ worker, reason }) => `${worker}: ${reason}`).join('; ');
  return tries.some(({ end }) => end === 'lost')
    ? new Failure('NETWORK', `the call of ${scraper} was lost (${said})`, {
        hint: 'It may have been done in part. `trawl status` shows who is alive.',
      })
    : new Failure('THROTTLED', `no worker has room for a call of ${scraper} (${said})`, {
        hint: 'Call again soon, start more workers, or submit a task: it waits for its turn.',
      });
}
