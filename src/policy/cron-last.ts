/**
 * The last time of a cron pattern before another time. Not the way forward gone backwards: the server's search leaves
 * out times where a day has no midnight, and which ones depends on where it began. Here every second counts that fits.
 */
import type { Cron } from './cron.ts';
import { fitsDate } from './cron-next.ts';
import type { LocalTime, Zone } from './time-zone.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** No clock is changed within one of these. */
const BLOCK_MS = 15 * MINUTE_MS;
/** Two leap days may lie eight years apart, but no pattern leaves more than five between two times. */
const BACK_MAX_MS = 5 * 366 * DAY_MS;
/** However a clock is changed, what is further than this from an end of its day is on the same day. */
const MARGIN_HOURS = 2;

export function lastCronTime(cron: Cron, zone: Zone, beforeMs: number): number | undefined {
  for (let at = blockBefore(beforeMs); at > beforeMs - BACK_MAX_MS;) {
    const local = zone.localTime(at);
    const fits = fitsDate(cron, local) && cron.hour.values.includes(local.hour);
    const found = fits ? lastInBlock(cron, { at, minute: local.minute }, beforeMs) : undefined;
    if (found !== undefined) return found;
    at -= stepBack(cron, local);
  }
  return undefined;
}

function blockBefore(beforeMs: number): number {
  return Math.floor((beforeMs - 1) / BLOCK_MS) * BLOCK_MS;
}

/** Over what cannot fit, but never past the end of the month or day before. */
function stepBack(cron: Cron, local: LocalTime): number {
  const { month, day, hour } = local;
  if (!cron.month.values.includes(month) && day > 2) return (day - 2) * DAY_MS;
  if (!fitsDate(cron, local) && hour > MARGIN_HOURS) return (hour - MARGIN_HOURS) * HOUR_MS;
  return BLOCK_MS;
}

function lastInBlock(
  cron: Cron,
  { at, minute }: { at: number; minute: number },
  beforeMs: number,
): number | undefined {
  const ends = Math.min(minute + BLOCK_MS / MINUTE_MS, 60);
  for (const each of cron.minute.values.filter((value) => value >= minute && value < ends).reverse())
    for (const second of [...cron.second.values].reverse()) {
      const time = at + (each - minute) * MINUTE_MS + second * 1_000;
      if (time < beforeMs) return time;
    }
  return undefined;
}
