/**
 * How much of a cap is used. A permit counts from when it is granted until it is given back unsent, or until one window
 * after we heard that it is over: the site saw it somewhere between, so no window of the site's ever holds more than
 * the cap, whatever the clocks and whenever it was sent. Times are rounded up to a grid, which keeps the list short
 * and errs on the same side.
 */
import type { EgressCaps } from '../../domain/egress.ts';
import type { Spent } from './kept-records.ts';

export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;
const GRID_PARTS = 120;

interface Log {
  readonly windowMs: number;
  readonly gridMs: number;
  at: number[];
  count: number[];
  sum: number;
}

export interface Meter {
  /** Granted, and neither over nor given back. */
  held: number;
  readonly hour: Log;
  readonly minute: Log;
}

export function createMeter(): Meter {
  return { held: 0, hour: createLog(HOUR_MS), minute: createLog(MINUTE_MS) };
}

function createLog(windowMs: number): Log {
  return { windowMs, gridMs: windowMs / GRID_PARTS, at: [], count: [], sum: 0 };
}

/** `count` requests were over by `at`. */
export function spend(meter: Meter, at: number, count: number): void {
  if (count <= 0) return;
  note(meter.hour, at, count);
  note(meter.minute, at, count);
}

export function restoreSpent(meter: Meter, hour: Spent, minute: Spent, skewMs: number): void {
  for (const [at, count] of hour) note(meter.hour, at + skewMs, count);
  for (const [at, count] of minute) note(meter.minute, at + skewMs, count);
}

function note(log: Log, at: number, count: number): void {
  const last = log.at.at(-1) ?? 0;
  const time = Math.max(last, Math.ceil(at / log.gridMs) * log.gridMs);
  log.sum += count;
  if (time === last) log.count[log.count.length - 1] = (log.count.at(-1) ?? 0) + count;
  else {
    log.at.push(time);
    log.count.push(count);
  }
}

function prune(log: Log, now: number): number {
  let gone = 0;
  for (let at = log.at[gone]; at !== undefined && at + log.windowMs <= now; at = log.at[gone]) {
    log.sum -= log.count[gone] ?? 0;
    gone += 1;
  }
  if (gone > 0) {
    log.at = log.at.slice(gone);
    log.count = log.count.slice(gone);
  }
  return log.sum;
}

export function usedIn(meter: Meter, now: number): { readonly hour: number; readonly minute: number } {
  return { hour: meter.held + prune(meter.hour, now), minute: meter.held + prune(meter.minute, now) };
}

/** How many more may be granted; Infinity: no cap. */
export function roomOf(meter: Meter, caps: EgressCaps, now: number): number {
  let room = Infinity;
  if (caps.perHour > 0) room = Math.min(room, caps.perHour - meter.held - prune(meter.hour, now));
  if (caps.perMinute > 0) room = Math.min(room, caps.perMinute - meter.held - prune(meter.minute, now));
  return Math.max(0, room);
}

/** When the next one may be granted if nothing is given back; Infinity: not before something held is over. */
export function freeAt(meter: Meter, caps: EgressCaps, now: number): number {
  return Math.max(
    logFreeAt(meter.hour, caps.perHour - meter.held, now, caps.perHour > 0),
    logFreeAt(meter.minute, caps.perMinute - meter.held, now, caps.perMinute > 0),
  );
}

function logFreeAt(log: Log, cap: number, now: number, limited: boolean): number {
  if (!limited) return now;
  let sum = prune(log, now);
  if (sum < cap) return now;
  if (cap <= 0) return Infinity;
  for (let index = 0; index < log.at.length; index += 1) {
    sum -= log.count[index] ?? 0;
    if (sum < cap) return (log.at[index] ?? now) + log.windowMs;
  }
  return Infinity;
}

/** When nothing counts any more, apart from what is held. */
export function clearAt(meter: Meter): number {
  return Math.max(
    (meter.hour.at.at(-1) ?? -HOUR_MS) + HOUR_MS,
    (meter.minute.at.at(-1) ?? -MINUTE_MS) + MINUTE_MS,
  );
}

/** Forgets what is over; what is held stays. */
export function clearSpent(meter: Meter): void {
  for (const log of [meter.hour, meter.minute]) {
    log.at = [];
    log.count = [];
    log.sum = 0;
  }
}

export function spentOf(meter: Meter, now: number): { readonly hour: Spent; readonly minute: Spent } {
  return { hour: entriesOf(meter.hour, now), minute: entriesOf(meter.minute, now) };
}

function entriesOf(log: Log, now: number): Spent {
  prune(log, now);
  return log.at.map((at, index) => [at, log.count[index] ?? 0] as const);
}

export function isCapped({ perHour, perMinute }: EgressCaps): boolean {
  return perHour > 0 || perMinute > 0;
}
