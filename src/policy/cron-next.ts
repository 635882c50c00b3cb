/**
 * The times of a cron pattern. The search goes nats-server's own way, odd cases of daylight saving included, because
 * what is shown must be what will happen: part by part, from the month down to the second, each is moved on until it
 * fits; what lies below a part that was moved starts from its beginning; and a part that passes its end begins again
 * from the top.
 */
import type { Cron } from './cron.ts';
import type { LocalTime, Zone } from './time-zone.ts';

/** Further away the server looks for no time, and refuses the pattern. */
const YEARS_MAX = 5;

interface Part {
  fits(cron: Cron, local: LocalTime): boolean;
  /** The beginning of this part: the first of the month, midnight, the full hour. */
  begin(atMs: number, zone: Zone): number;
  advance(atMs: number, zone: Zone): number;
  isFirst(local: LocalTime): boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const PARTS: readonly Part[] = [
  {
    fits: (cron, { month }) => cron.month.values.includes(month),
    begin: (at, zone) => zone.instant({ ...zone.localTime(at), day: 1, hour: 0, minute: 0, second: 0 }),
    advance: (at, zone) => moved(at, zone, { month: 1, day: 0 }),
    isFirst: ({ month }) => month === 1,
  },
  {
    fits: fitsDay,
    begin: (at, zone) => zone.instant({ ...zone.localTime(at), hour: 0, minute: 0, second: 0 }),
    advance: (at, zone) => moved(at, zone, { month: 0, day: 1 }),
    isFirst: ({ day }) => day === 1,
  },
  {
    fits: (cron, { hour }) => cron.hour.values.includes(hour),
    begin: (at, zone) => zone.instant({ ...zone.localTime(at), minute: 0, second: 0 }),
    advance: (at) => at + HOUR_MS,
    isFirst: ({ hour }) => hour === 0,
  },
  {
    fits: (cron, { minute }) => cron.minute.values.includes(minute),
    begin: (at) => Math.floor(at / MINUTE_MS) * MINUTE_MS,
    advance: (at) => at + MINUTE_MS,
    isFirst: ({ minute }) => minute === 0,
  },
  {
    fits: (cron, { second }) => cron.second.values.includes(second),
    begin: (at) => at,
    advance: (at) => at + 1000,
    isFirst: ({ second }) => second === 0,
  },
];

/** The first time after `afterMs`, or undefined where there is none in the next five years. */
export function nextCronTime(cron: Cron, zone: Zone, afterMs: number): number | undefined {
  let at = Math.floor(afterMs / 1000) * 1000 + 1000;
  let begun = false;
  const yearLast = zone.localTime(at).year + YEARS_MAX;

  fromTheTop: while (zone.localTime(at).year <= yearLast) {
    for (const part of PARTS) {
      while (!part.fits(cron, zone.localTime(at))) {
        if (!begun) at = part.begin(at, zone);
        begun = true;
        at = part.advance(at, zone);
        if (part.isFirst(zone.localTime(at))) continue fromTheTop;
      }
    }
    return at;
  }
  return undefined;
}

function moved(atMs: number, zone: Zone, by: { readonly month: number; readonly day: number }): number {
  const local = zone.localTime(atMs);
  return zone.instant({ ...local, month: local.month + by.month, day: local.day + by.day });
}

/** Whether month and day are of the pattern. */
export function fitsDate(cron: Cron, local: LocalTime): boolean {
  return cron.month.values.includes(local.month) && fitsDay(cron, local);
}

/** Where both days are given, either will do. */
function fitsDay(cron: Cron, { day, weekday }: LocalTime): boolean {
  const dayFits = cron.day.values.includes(day);
  const weekdayFits = cron.weekday.values.includes(weekday);
  return cron.day.any || cron.weekday.any ? dayFits && weekdayFits : dayFits || weekdayFits;
}
