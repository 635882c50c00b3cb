/** What a program does with tasks: submit them, follow their run, read what came of them. */
import { asFailure, Failure } from '../domain/failure.ts';
import { openBucket } from '../nats/bucket.ts';
import type { Connection } from '../nats/connect.ts';
import { createPublisher, type Publisher } from '../nats/publisher.ts';
import { createServices, type Services } from '../nats/services-client.ts';
import type { Strategy } from '../policy/route-call.ts';
import { TOKEN, type Names } from '../wire/names.ts';
import { answers, readAnswer, type CallResult, type RunSummary, type Stats } from './answers.ts';
import { CHUNK_LIMITS, packTasks, type ChunkLimits, type Task } from './pack-tasks.ts';
import { readResults, tookTooLong, type ResultsOptions, type TaskOutcome } from './results.ts';
import { hasEnded, whenEnded } from './run-end.ts';
import { submitFew, type Submitted } from './submit-few.ts';
import { submitStream, type SubmitProgress } from './submit-stream.ts';

export interface SubmitOptions {
  /** Without one, the scraper's standing run, which takes tasks at any time and never ends. */
  readonly run?: string | undefined;
  /** 0 to 9; higher goes first. */
  readonly priority?: number | undefined;
  /** Addresses go without the parameters that only track visitors; what they were is in `input.rawUrl`. */
  readonly dropTracking?: boolean | undefined;
}

export interface RunOptions extends SubmitOptions {
  readonly onProgress?: ((progress: SubmitProgress) => void) | undefined;
  /** How long a full intake is waited for. */
  readonly patienceMs?: number | undefined;
}

export interface CallOptions {
  /** Which of the workers is asked; `least_loaded` without it. */
  readonly strategy?: Strategy | undefined;
  /** 60 s without it. */
  readonly timeoutMs?: number | undefined;
}

export interface Client {
  /** Tells for each task whether it is new. Meant for few; `run` takes any number. */
  submit(scraper: string, tasks: Task | readonly Task[], options?: SubmitOptions): Promise<Submitted>;
  /** Makes a run of all these tasks, streamed, and closes the list. */
  run(
    scraper: string,
    tasks: Iterable<Task> | AsyncIterable<Task>,
    options?: RunOptions,
  ): Promise<{ readonly run: string; readonly enqueued: number }>;
  /** Settled tasks as they settle, until the run has ended; failed ones are among them, with their `error`. */
  results(run: string, options?: ResultsOptions): AsyncGenerator<TaskOutcome, void, undefined>;
  /** The run, once it has ended. */
  waitFor(run: string, options?: { readonly timeoutMs?: number | undefined }): Promise<RunSummary>;
  /** Of one run, or of the whole cluster. */
  stats(run?: string): Promise<Stats>;
  /** One scrape now: its answer, which is not stored. One that failed is an answer too, with its `error`. */
  call(scraper: string, task: Task, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly names: Names;
  readonly durability: 'always' | 'interval';
  readonly services?: Services;
}

const CALL_TIMEOUT_MS = 60_000;
const CALL_EXTRA_MS = 10_000;
/** Room in a message for what is not the payload. */
const FRAME_BYTES = 1_024;

export function createClient(connection: Connection, options: ClientOptions): Client {
  const { names, durability, services = createServices(connection, names) } = options;
  const bucket = openBucket(connection, names.bucket('cluster'));
  let opening: Promise<Publisher> | undefined;

  return {
    submit(scraper, tasks, { run, ...options } = {}) {
      requireToken('scraper', scraper);
      if (run !== undefined) requireToken('run', run);
      return submitFew(services, tasks, { ...options, scraper, run, limits: chunkLimits() });
    },
    run: runTasks,
    results(run, resultsOptions) {
      requireToken('run', run);
      return readResults({ connection, bucket, names }, run, resultsOptions);
    },
    waitFor,
    async stats(run) {
      return readAnswer(answers.stats, await services.call('stats', run === undefined ? {} : { run }));
    },
    async call(scraper, task, { strategy, timeoutMs = CALL_TIMEOUT_MS } = {}) {
      requireToken('scraper', scraper);
      const body = { ...(typeof task === 'string' ? { url: task } : task), scraper, strategy, timeoutMs };
      // The one who is asked says so when the time is up: that answer is waited for.
      const limits = { timeoutMs: timeoutMs + CALL_EXTRA_MS };
      return readAnswer(answers.call, await services.call('call', body, limits));
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
      await connection.close();
    },
  };

  async function runTasks(...args: Parameters<Client['run']>): ReturnType<Client['run']> {
    const [scraper, tasks, { run, ...options } = {}] = args;
    const { priority } = options;
    requireToken('scraper', scraper);
    const created = readAnswer(answers.run, await services.call('run.create', { scraper, run, priority }));
    if (hasEnded(created))
      throw new Failure('CONFLICT', `run ${created.id} has ended (${created.state})`, {
        hint: 'A new run needs a name of its own.',
      });
    const subject = names.submit(scraper, created.id);
    const publisher = await openPublisher();
    const chunks = packTasks(tasks, chunkLimits());
    const sent = await submitStream(publisher, chunks, { ...options, subject }).catch((error: unknown) => {
      throw inRun(created.id, error);
    });
    // A run that was there before, perhaps because the first try broke off, has messages from then.
    const earlier = Math.max(created.sealed?.messages ?? 0, created.taken ?? 0);
    await services.call('run.seal', { run: created.id, messages: earlier + sent.messages });
    return { run: created.id, enqueued: sent.tasks };
  }

  async function waitFor(...args: Parameters<Client['waitFor']>): ReturnType<Client['waitFor']> {
    const [run, { timeoutMs } = {}] = args;
    requireToken('run', run);
    const enough = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.race([
        whenEnded(bucket, run, enough.signal),
        new Promise<never>((_, reject) => {
          if (timeoutMs !== undefined)
            timer = setTimeout(() => reject(tookTooLong(run, timeoutMs)), timeoutMs);
        }),
      ]);
    } finally {
      clearTimeout(timer);
      enough.abort();
    }
    return readAnswer(answers.runWithCounts, await services.call('run.show', { run }));
  }

  function openPublisher(): Promise<Publisher> {
    opening ??= createPublisher(connection, { stream: names.stream('INTAKE'), durability });
    opening.catch(() => (opening = undefined)); // the next one tries again
    return opening;
  }

  function chunkLimits(): ChunkLimits {
    const maxPayload = connection.nc.info?.max_payload ?? CHUNK_LIMITS.bytesMax + FRAME_BYTES;
    return { ...CHUNK_LIMITS, bytesMax: Math.min(CHUNK_LIMITS.bytesMax, maxPayload - FRAME_BYTES) };
  }
}

/** What is stored stays in its run, so whoever tries again must know its name. */
function inRun(run: string, error: unknown): Failure {
  const { code, message, hint } = asFailure(error);
  return new Failure(code, `run ${run}: ${message}`, { cause: error, ...(hint !== undefined && { hint }) });
}

/** What becomes part of a subject must be one token of it. */
function requireToken(what: string, text: string): void {
  if (!TOKEN.test(text))
    throw new Failure(
      'INVALID',
      `${what} must be 1 to 64 letters, digits, _ or -, not ${JSON.stringify(text)}`,
    );
}
