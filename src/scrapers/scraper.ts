/** What a scraper is to a worker: a name, its limits, how it leaves the cluster, and what to do with one task. */
import type { HostLimits, Selection, UseOutcome, Via, WhenNone } from '../domain/egress.ts';
import type { Mode } from '../domain/mode.ts';
import type { TaskSpec } from '../domain/task.ts';
import type { Log } from '../telemetry/log.ts';
import type { BlockRule } from '../policy/block-rules.ts';
import type { FollowRules } from '../policy/follow-links.ts';
import type { Enqueue } from './enqueue.ts';
import type { Engine, Fetch, FetchOptions, Page, ParsedPage, SessionHandle } from './page.ts';
import type { StandardSchema } from './standard-schema.ts';

export interface ScraperContext<Input = Readonly<Record<string, unknown>>, Item = unknown, Shared = unknown> {
  readonly task: TaskSpec;
  /** The URL of the task as it was submitted, and what else came with it, as the scraper's schema reads it. */
  readonly url: string | undefined;
  readonly input: Input;
  /** 1 for the first try. */
  readonly attempt: number;
  /** One page, through the egress and at the pace that the cluster grants. Throws a `Failure` that says what became of it. */
  readonly fetch: Fetch;
  /** The page of the task's own URL, fetched once however often it is asked for. */
  readonly page: () => Promise<ParsedPage>;
  /** Fetches, and reads the answer as JSON. */
  readonly json: (url: string | URL, options?: FetchOptions) => Promise<unknown>;
  /** Who this task is at the site, once it has fetched; only for scrapers that want sessions. */
  readonly session: SessionHandle | undefined;
  /** Stored with the outcome, in one write: a task that is tried again never doubles its items. */
  readonly emit: Emit<Item>;
  /** More tasks for the same run, stored before this one is done; those that the run knows already change nothing. */
  readonly enqueue: Enqueue;
  /** A long task says that it lives; one that says nothing for the length of a lease loses it. */
  readonly progress: () => void;
  /**
   * Runs `use` while nobody else in the cluster holds this key; if somebody does, the task is deferred, not failed. So it
   * is when the lock is lost meanwhile: the signals abort, and the attempt does not count, whatever it returns.
   */
  readonly withLock: <T>(key: string, use: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** What `setup` returned. */
  readonly shared: Shared;
  /** Aborts at the hard timeout, when the task is cancelled, when it has lost a lock, and when the worker must stop. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** `emit(item)`, or `emit(kind, item)`, which is stored as `{ kind, data }`. */
export interface Emit<Item = unknown> {
  (item: Item): void;
  (kind: string, item: Item): void;
}

export interface ScraperEgress {
  readonly via?: Via;
  /** No proxy or session is free: wait (the default), go directly, or bury the task. */
  readonly whenNone?: WhenNone;
  readonly select?: Selection;
  /** Nobody else uses the proxy while a task has it. */
  readonly exclusive?: boolean;
  /** Each task gets a session: cookies, headers and user agent that belong to one proxy. */
  readonly session?: boolean;
  /** For `select: 'sticky'`: tasks of one key go through one proxy. Without it those of one run do. */
  readonly stickTo?: (task: TaskSpec) => string;
}

/** What a scraper says about itself. */
export interface ScraperOptions {
  readonly name: string;
  /** In one process on this machine, or on the cluster. */
  readonly mode?: Mode;
  /** Attempts after the first. */
  readonly retries?: number;
  readonly egress?: ScraperEgress;
  /** What this scraper allows itself at a host; of these and those of the cluster the stricter ones count. */
  readonly limits?: Partial<HostLimits>;
  /** false: does not ask robots.txt. */
  readonly robots?: boolean;
  /** What it fetches with, where a call does not say; `http` without it. */
  readonly engine?: Engine;
  /** Answers that mean "go away" at the sites of this scraper. */
  readonly blocks?: readonly BlockRule[];
  /** Which of the addresses that it enqueues for itself are followed. Page budgets hold for the run, whoever works on it. */
  readonly crawl?: FollowRules;
}

export interface ScraperHooks {
  /** Of what a page says about the way it came, where the usual rules are wrong; undefined: they are right. */
  classify?(page: Page): UseOutcome | undefined;
  /** Whether this is the page that was asked for; false or a reason: a block in disguise, tried again another way. */
  validate?(page: Page): boolean | string;
  /** Before a session is used. One that is not valid is refreshed, or given up if that cannot be done. */
  isSessionValid?(session: SessionHandle): boolean;
  /** Signs in. What it fetches goes through the session's own egress. */
  refreshSession?(parts: { readonly session: SessionHandle; readonly fetch: Fetch }): Promise<void>;
}

export interface Scraper extends ScraperOptions, ScraperHooks {
  /** Hard limit of one attempt. */
  readonly timeoutMs?: number;
  /** Where a run starts that is given no addresses. */
  readonly start?: readonly string[];
  /** Of what a task is given, and of what it emits. */
  readonly input?: StandardSchema;
  readonly item?: StandardSchema;
  setup?(parts: Pick<ScraperContext, 'log'>): unknown;
  teardown?(shared: unknown): void | Promise<void>;
  /** What it returns is kept beside the items. Throw a `Failure` to say what kind of trouble it was. */
  run(context: ScraperContext): Promise<unknown>;
}
