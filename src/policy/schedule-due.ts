/**
 * What to do when a schedule is due.
 *
 * The server keeps the clock, but it is not exact about it: killed, it may fire the last time once more, and an
 * interval then counts from the restart; stopped, it leaves out what passed. And the coordinator may be away when
 * something is due. So each firing is named after the second for which it was planned: fired twice, it is one run.
 */
import { lastCronTime } from './cron-last.ts';
import { nextCronTime } from './cron-next.ts';
import type { ScheduleSpec } from './schedule-spec.ts';
import { createZone } from './time-zone.ts';

/** Later than this, a firing has missed its time. */
const LATE_AFTER_MS = 60_000;
/** What was not dealt with by then, the server has left out: what it fires is taken within a moment. */
const MISSED_AFTER_MS = 5_000;
/** How long before its time the server may fire: it rounds its clock. */
const ROUNDED_MS = 1_000;
/** How much earlier than a whole interval the next firing may come: clocks differ, and the server rounds. */
const EARLY_MAX_MS = 60_000;

/**
 * The second for which a firing was planned. `firedAt` is the time of the server's message, `nextAt` that of its
 * header `Nats-Schedule-Next`, which a late firing has reckoned anew. (Epoch ms.)
 */
export function dueTimeOf(
  { timing }: ScheduleSpec,
  { firedAt, nextAt }: { readonly firedAt: number; readonly nextAt: number },
): number {
  if (timing.kind === 'every') return nextAt - timing.everyMs;
  const zone = createZone(timing.timeZone);
  // Not the last one before the next: on its way there the server leaves times out, where a day has no midnight.
  const before = Math.min(nextAt, firedAt + ROUNDED_MS);
  return lastCronTime(timing.cron, zone, before) ?? Math.floor(firedAt / 1000) * 1000;
}

/** The times to come, for people to read. An interval counts from `anchorAt`, its last time. */
export function nextTimes(
  { timing }: ScheduleSpec,
  {
    from,
    count,
    anchorAt = from,
  }: { readonly from: number; readonly count: number; readonly anchorAt?: number },
): number[] {
  if (timing.kind === 'every') {
    const { everyMs } = timing;
    const start = Math.round(anchorAt / 1000) * 1000;
    const first = start + (Math.floor((from - start) / everyMs) + 1) * everyMs;
    return Array.from({ length: count }, (_, i) => first + i * everyMs);
  }
  const zone = createZone(timing.timeZone);
  const times: number[] = [];
  for (let at: number | undefined = from; times.length < count; times.push(at)) {
    at = nextCronTime(timing.cron, zone, at);
    if (at === undefined) break;
  }
  return times;
}

/**
 * The last time that passed since `since` without a firing, where the server will not fire it any more.
 * To be asked when a coordinator takes over, and now and then.
 */
export function findMissed(
  spec: ScheduleSpec,
  { since, now }: { readonly since: number; readonly now: number },
): number | undefined {
  const last = lastTime(spec, { anchorAt: since, now: now - MISSED_AFTER_MS });
  return last !== undefined && last > since ? last : undefined;
}

export interface DueFacts {
  readonly spec: ScheduleSpec;
  readonly dueAt: number; // planned, epoch ms
  /** The planned time that was dealt with last: submitted in full, or skipped; undefined: none yet. */
  readonly lastDueAt: number | undefined;
  readonly now: number; // epoch ms
  /** Runs of this schedule that have not ended. */
  readonly runsOpen: readonly string[];
}

/** `dueAt` is to be kept as `lastDueAt` once the firing is dealt with. */
export type DueDecision =
  | {
      readonly action: 'fire';
      readonly reason: 'due' | 'caught-up' | 'cut-short';
      readonly dueAt: number;
      readonly run: string;
      readonly startAt: number; // after stagger and jitter
    }
  | {
      readonly action: 'skip';
      readonly reason: 'paused' | 'already' | 'too-late' | 'overlap';
      readonly dueAt: number;
    };

export function decideDue({ spec, dueAt: planned, lastDueAt, now, runsOpen }: DueFacts): DueDecision {
  if (lastDueAt !== undefined && isDealtWith(spec, planned, lastDueAt))
    return { action: 'skip', reason: 'already', dueAt: lastDueAt };
  if (spec.paused) return { action: 'skip', reason: 'paused', dueAt: planned };

  const late = now - planned > LATE_AFTER_MS;
  if (late && spec.catchUp === 'none') return { action: 'skip', reason: 'too-late', dueAt: planned };
  // However many times passed, they are made up for by the last of them, which all of them then stand for.
  const dueAt = late ? (lastTime(spec, { anchorAt: planned, now }) ?? planned) : planned;
  const run = runOf(spec.name, dueAt);
  const fire = { action: 'fire', dueAt, run, startAt: startOf(spec, dueAt, now) } as const;

  // Its run is there, but nobody noted it as submitted: somebody fell in between, so it is submitted again.
  if (runsOpen.includes(run)) return { ...fire, reason: 'cut-short' };
  if (runsOpen.length > 0 && spec.overlap === 'skip') return { action: 'skip', reason: 'overlap', dueAt };
  return { ...fire, reason: late ? 'caught-up' : 'due' };
}

/** The name of the run of one firing: always the same for the same planned second. */
export function runOf(name: string, dueAt: number): string {
  const second = new Date(Math.floor(dueAt / 1000) * 1000).toISOString();
  return `${name}-${second.replace(/\.\d+/, '').replace(/[-:]/g, '')}`;
}

function isDealtWith({ timing }: ScheduleSpec, dueAt: number, lastDueAt: number): boolean {
  if (timing.kind === 'cron') return dueAt <= lastDueAt;
  // Where the interval was begun anew, a firing may fall into a time that has had its run.
  return dueAt < lastDueAt + timing.everyMs - Math.min(EARLY_MAX_MS, timing.everyMs / 2);
}

/** The last planned time up to `now`. */
function lastTime(
  { timing }: ScheduleSpec,
  { anchorAt, now }: { readonly anchorAt: number; readonly now: number },
): number | undefined {
  if (timing.kind === 'cron') return lastCronTime(timing.cron, createZone(timing.timeZone), now + 1);
  return anchorAt + Math.floor((now - anchorAt) / timing.everyMs) * timing.everyMs;
}

/** The same for everybody who asks: the part that looks random is made from the name and the time. */
function startOf({ name, staggerMs, jitterMs }: ScheduleSpec, dueAt: number, now: number): number {
  const delayMs = staggerMs * fractionOf(name) + jitterMs * fractionOf(`${name}@${dueAt}`);
  return Math.max(now, dueAt + Math.floor(delayMs));
}

/** A number in [0, 1) that depends on the text alone (FNV-1a, then mixed so that near texts lie far apart). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
