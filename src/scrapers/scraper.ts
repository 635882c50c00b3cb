/** What a scraper is to a worker: a name, its limits, how it leaves the cluster, and what to do with one task. */
import type { HostLimits, Selection, UseOutcome, Via, WhenNone } from '../domain/egress.ts';
import type { TaskSpec } from '../domain/task.ts';
import type { Log } from '../telemetry/log.ts';
import type { BlockRule } from '../policy/block-rules.ts';
import type { Fetch, Page, SessionHandle } from './page.ts';

export interface ScraperContext {
  readonly task: TaskSpec;
  /** The URL of the task as it was submitted, and what else came with it. */
  readonly url: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
  /** 1 for the first try. */
  readonly attempt: number;
  /** One page, through the egress and at the pace that the cluster grants. Throws a `Failure` that says what became of it. */
  readonly fetch: Fetch;
  /** Who this task is at the site, once it has fetched; only for scrapers that want sessions. */
  readonly session: SessionHandle | undefined;
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

export interface Scraper {
  readonly name: string;
  /** Hard limit of one attempt. */
  readonly timeoutMs?: number;
  /** Attempts after the first. */
  readonly retries?: number;
  readonly egress?: ScraperEgress;
  /** What this scraper allows itself at a host; of these and those of the cluster the stricter ones count. */
  readonly limits?: Partial<HostLimits>;
  /** false: does not ask robots.txt. */
  readonly robots?: boolean;
  /** Answers that mean "go away" at the sites of this scraper. */
  readonly blocks?: readonly BlockRule[];
  /** Of what a page says about the way it came, where the usual rules are wrong; undefined: they are right. */
  classify?(page: Page): UseOutcome | undefined;
  /** Whether this is the page that was asked for; false or a reason: a block in disguise, tried again another way. */
  validate?(page: Page): boolean | string;
  /** Before a session is used. One that is not valid is refreshed, or given up if that cannot be done. */
  isSessionValid?(session: SessionHandle): boolean;
  /** Signs in. What it fetches goes through the session's own egress. */
  refreshSession?(parts: { readonly session: SessionHandle; readonly fetch: Fetch }): Promise<void>;
  /** What it returns is kept beside the items. Throw a `Failure` to say what kind of trouble it was. */
  run(context: ScraperContext): Promise<unknown>;
}
