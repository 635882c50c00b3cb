/**
 * Local time of a time zone, through the tables that come with Node. Where a local time does not exist or exists
 * twice, it is resolved as nats-server does, because these times are shown as the times at which that server fires.
 */
export interface LocalTime {
  readonly year: number;
  readonly month: number; // 1-12
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number; // 0 is Sunday
}

export interface Zone {
  localTime(atMs: number): LocalTime;
  /** Parts beyond their range carry over, as in `Date.UTC`. */
  instant(local: Omit<LocalTime, 'weekday'>): number;
}

export function createZone(timeZone: string): Zone {
  const offsetMs = timeZone === 'UTC' ? () => 0 : offsetReader(timeZone);
  return {
    localTime(atMs) {
      const shifted = new Date(atMs + offsetMs(atMs));
      return {
        year: shifted.getUTCFullYear(),
        month: shifted.getUTCMonth() + 1,
        day: shifted.getUTCDate(),
        hour: shifted.getUTCHours(),
        minute: shifted.getUTCMinutes(),
        second: shifted.getUTCSeconds(),
        weekday: shifted.getUTCDay(),
      };
    },
    instant({ year, month, day, hour, minute, second }) {
      const asUtc = Date.UTC(year, month - 1, day, hour, minute, second);
      // The offset at the wanted time is not known yet: guess it, and look again where the guess leads.
      return asUtc - offsetMs(asUtc - offsetMs(asUtc));
    },
  };
}

function offsetReader(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (atMs) => {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(atMs)) parts[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000;
  };
}

/** A problem in words, or undefined. The server knows names of the tz database only, and knows them by exact case. */
export function checkTimeZone(timeZone: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  if (timeZone === 'UTC' || zones.includes(timeZone)) return undefined;
  const meant = zones.find((zone) => zone.toLowerCase() === timeZone.toLowerCase());
  if (meant !== undefined) return `is written ${meant}, not ${timeZone}`;
  // Older names (Asia/Kolkata here, CET) are known but not listed; an offset such as +02:00 is no name.
  const isName = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/.test(timeZone);
  return isName && isKnown(timeZone)
    ? undefined
    : `must be a name such as Europe/Berlin or UTC, not ${timeZone}`;
}

function isKnown(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone });
    return true;
  } catch {
    return false;
  }
}
