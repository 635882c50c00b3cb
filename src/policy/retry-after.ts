/** `Retry-After`: how long a host asks us to wait, in seconds or as a date (RFC 9110, section 10.2.3). */
const SECONDS = /^\s*(\d{1,9})(?:\.\d+)?\s*$/;

/** In ms from now; undefined for what says nothing. A date that is over means now. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = SECONDS.exec(header)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000;
  // `Date.parse` takes almost anything that has a number in it, such as "-5"; a date has a weekday or a month by name.
  if (!/[a-z]{3}/i.test(header)) return undefined;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
