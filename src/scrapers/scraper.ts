/** What a scraper is to a worker: a name, its limits, and what to do with one task. */
import type { TaskSpec } from '../domain/task.ts';
import type { Log } from '../telemetry/log.ts';

export interface ScraperContext {
  readonly task: TaskSpec;
  /** The URL of the task as it was submitted, and what else came with it. */
  readonly url: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Stored with the outcome, in one write: a task that is tried again never doubles its items. */
  readonly emit: (item: unknown) => void;
  /** A long task says that it lives; one that says nothing for the length of a lease loses it. */
  readonly progress: () => void;
  /** Runs `use` while nobody else in the cluster holds this key; if somebody does, the task is deferred, not failed. */
  readonly withLock: <T>(key: string, use: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Aborts at the hard timeout, when the task is cancelled, and when the worker must stop. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface Scraper {
  readonly name: string;
  /** Hard limit of one attempt. */
  readonly timeoutMs?: number;
  /** Attempts after the first. */
  readonly retries?: number;
  /** What it returns is kept beside the items. Throw a `Failure` to say what kind of trouble it was. */
  run(context: ScraperContext): Promise<unknown>;
}
