/** The names of runs. A run's name is one token of a subject, and unique in the cluster. */
import { shortHash } from './task-id.ts';

const RUN_ID_MAX_LENGTH = 64;
const RUN_ID = /^[A-Za-z0-9_-]{1,64}$/;

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** The second it began, in UTC: `20260131_235959`. */
export function createRunId(now: number): string {
  const digits = new Date(now).toISOString().replace(/[^0-9]/g, '');
  return `${digits.slice(0, 8)}_${digits.slice(8, 14)}`;
}

/** The `n`-th name to try (2, 3, …) when `id` is taken. */
export function nextRunId(id: string, n: number): string {
  const suffix = `-${n}`;
  return id.slice(0, RUN_ID_MAX_LENGTH - suffix.length) + suffix;
}

/** The run of everything submitted to a scraper without the name of one. */
export function defaultRunId(scraper: string): string {
  const id = `default-${scraper}`;
  // Too long to be a token: the hash keeps two scrapers apart whose names differ only at the end.
  return id.length <= RUN_ID_MAX_LENGTH ? id : `${id.slice(0, 41)}-${shortHash(scraper)}`;
}
