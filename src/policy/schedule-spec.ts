/** What a person writes to have a scraper run again and again, read and checked, with all problems at once. */
import type { Priority } from '../domain/task.ts';
import { parseCron, type Cron } from './cron.ts';
import { nextCronTime } from './cron-next.ts';
import { createScheduleReader, type ScheduleReader } from './schedule-reader.ts';
import { checkTimeZone, createZone } from './time-zone.ts';

export type Timing =
  | { readonly kind: 'every'; readonly everyMs: number } // whole seconds
  | { readonly kind: 'cron'; readonly cron: Cron; readonly timeZone: string };

export interface ScheduleSpec {
  readonly name: string;
  readonly scraper: string;
  readonly timing: Timing;
  readonly priority: Priority;
  readonly params: Readonly<Record<string, unknown>>;
  readonly urls: readonly string[];
  /** Schedules that are due together are spread over this time; each keeps its place. */
  readonly staggerMs: number;
  /** Each firing starts up to this much later, another time each time. */
  readonly jitterMs: number;
  /** A first run when the schedule is made, without waiting for its first time. */
  readonly now: boolean;
  /** When it is due while its last run is still open: leave this one out, or let it wait in line. */
  readonly overlap: 'skip' | 'queue';
  /** Times that passed while nobody was there: made up for by one run, or not at all. */
  readonly catchUp: 'one' | 'none';
  readonly paused: boolean;
}

export type ParsedSchedule =
  | { readonly ok: true; readonly spec: ScheduleSpec }
  | { readonly ok: false; readonly problems: readonly string[] };

/** With the time behind it, a run's name is still one token of a subject. */
export const SCHEDULE_NAME_MAX = 40;
const SCRAPER_NAME_MAX = 64;
const EVERY_DEFAULT_MS = 3_600_000;
const EVERY_MIN_MS = 1_000;
const EVERY_MAX_MS = 366 * 24 * 3_600_000;
const SPREAD_MAX_MS = 24 * 3_600_000;

const KEYS = [
  'name',
  'scraper',
  'every',
  'cron',
  'timeZone',
  'priority',
  'params',
  'urls',
  'stagger',
  'jitter',
  'now',
  'overlap',
  'catchUp',
  'paused',
];

export function parseSchedule(input: unknown, now: number): ParsedSchedule {
  const read = createScheduleReader(input, KEYS);
  const spec: ScheduleSpec = {
    name: read.token('name', SCHEDULE_NAME_MAX),
    scraper: read.token('scraper', SCRAPER_NAME_MAX),
    timing: readTiming(read, now),
    priority: read.priority('priority'),
    params: read.object('params'),
    urls: read.urls('urls'),
    staggerMs: read.duration('stagger', { minMs: 0, maxMs: SPREAD_MAX_MS }) ?? 0,
    jitterMs: read.duration('jitter', { minMs: 0, maxMs: SPREAD_MAX_MS }) ?? 0,
    now: read.flag('now', true),
    overlap: read.choice('overlap', ['skip', 'queue']),
    catchUp: read.choice('catchUp', ['one', 'none']),
    paused: read.flag('paused', false),
  };
  const { timing, staggerMs, jitterMs } = spec;
  if (timing.kind === 'every' && staggerMs + jitterMs >= timing.everyMs && staggerMs + jitterMs > 0)
    read.problem('stagger and jitter together must be shorter than the interval');
  return read.problems.length === 0 ? { ok: true, spec } : { ok: false, problems: read.problems };
}

function readTiming(read: ScheduleReader, now: number): Timing {
  const pattern = read.text('cron');
  const everyMs = read.duration('every', { minMs: EVERY_MIN_MS, maxMs: EVERY_MAX_MS });
  const timeZone = read.text('timeZone');
  if (read.has('cron') && read.has('every'))
    read.problem('every and cron exclude each other: an interval, or a pattern');
  if (!read.has('cron')) {
    if (read.has('timeZone')) read.problem('timeZone goes with cron: an interval is the same everywhere');
    return { kind: 'every', everyMs: everyMs ?? EVERY_DEFAULT_MS };
  }
  const every: Timing = { kind: 'every', everyMs: EVERY_DEFAULT_MS };
  const zoneProblem = timeZone === undefined ? undefined : checkTimeZone(timeZone);
  if (zoneProblem !== undefined) read.problem(`timeZone ${zoneProblem}`);
  if (pattern === undefined) return every;
  const parsed = parseCron(pattern);
  if (!parsed.ok) {
    read.problem(`cron ${parsed.problem}`);
    return every;
  }
  const timing: Timing = { kind: 'cron', cron: parsed.cron, timeZone: timeZone ?? 'UTC' };
  if (zoneProblem === undefined && nextCronTime(parsed.cron, createZone(timing.timeZone), now) === undefined)
    read.problem(`cron ${pattern} names a time that does not come in the next five years`);
  return timing;
}

/**
 * The headers that make a message a schedule, which the server fires at `target`. Of the times that nobody took,
 * the server keeps only the last.
 */
export function scheduleHeaders({ timing }: ScheduleSpec, target: string): Readonly<Record<string, string>> {
  const common = { 'Nats-Schedule-Target': target, 'Nats-Schedule-Rollup': 'sub' };
  if (timing.kind === 'every') return { 'Nats-Schedule': `@every ${timing.everyMs / 1000}s`, ...common };
  const { cron, timeZone } = timing;
  const zone = timeZone === 'UTC' ? {} : { 'Nats-Schedule-Time-Zone': timeZone };
  return { 'Nats-Schedule': cron.pattern, ...zone, ...common };
}
