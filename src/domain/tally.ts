/**
 * What actors have counted: sums that only grow. Each life of an actor keeps its own, the cluster's is the sum of all,
 * also of those that are over.
 */
import { USE_OUTCOMES } from './egress.ts';

/** Upper ends of the buckets of all durations, in seconds: from a task that does nothing to half an hour. */
export const DURATION_BOUNDS_S: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
];

export interface DurationSums {
  /** One per bound, not cumulative, and one for what took longer. */
  readonly counts: readonly number[];
  readonly seconds: number;
}

/** What hosts answer with, by the first digit of the status; `failed`: no answer came. */
export const ANSWER_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'failed'] as const;
export type AnswerClass = (typeof ANSWER_CLASSES)[number];

export interface HostSums {
  /** As `ANSWER_CLASSES` has them. */
  readonly requests: readonly number[];
  readonly blocks: number;
  readonly seconds: number;
  /** How busy it is of late; the busiest hosts keep a line of their own. */
  readonly score: number;
}

/** Failures after which a task is tried again. */
export const RETRY_CODES = ['NETWORK', 'TIMEOUT', 'INTERNAL', 'TARGET', 'PROXY', 'BLOCKED'] as const;

/** Why a task is put off without blame; the last two before it was started at all. */
export const DEFER_REASONS = [
  'throttled',
  'no-egress',
  'locked-elsewhere',
  'unavailable',
  'paused',
  'other-worker',
] as const;

/** What becomes of a page; `soft_block`: the scraper did not recognise it. */
export const PAGE_OUTCOMES = [...USE_OUTCOMES.filter((outcome) => outcome !== 'unsent'), 'soft_block'];

export type Named = Readonly<Record<string, number>>;

export interface TallySums {
  /** By role. */
  readonly starts: Named;
  /** Tasks that were refused before they became any. */
  readonly refused: number;
  /** By code of the failure. */
  readonly retried: Named;
  /** By reason. */
  readonly deferred: Named;
  /** By outcome. */
  readonly pages: Named;
  readonly bytes: number;
  readonly task: DurationSums;
  readonly wait: DurationSums;
  readonly page: DurationSums;
  readonly hosts: ReadonlyMap<string, HostSums>;
  /** Of all hosts that have no line of their own. */
  readonly otherHosts: HostSums;
}

export const NO_DURATIONS: DurationSums = {
  counts: Array.from({ length: DURATION_BOUNDS_S.length + 1 }, () => 0),
  seconds: 0,
};

export const NO_HOST: HostSums = { requests: ANSWER_CLASSES.map(() => 0), blocks: 0, seconds: 0, score: 0 };

export const NO_TALLY: TallySums = {
  starts: {},
  refused: 0,
  retried: {},
  deferred: {},
  pages: {},
  bytes: 0,
  task: NO_DURATIONS,
  wait: NO_DURATIONS,
  page: NO_DURATIONS,
  hosts: new Map(),
  otherHosts: NO_HOST,
};
