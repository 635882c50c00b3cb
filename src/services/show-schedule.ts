/** A schedule as JSON for people: what it does and when, without the tasks, of which there may be thousands. */
import type { StoredSchedule } from '../nats/schedules.ts';
import { nextTimes } from '../policy/schedule-due.ts';
import { parseSchedule, type ScheduleSpec } from '../policy/schedule-spec.ts';
import type { ScheduleRecord } from '../wire/schedule-record.ts';

const TIMES = 3;

/** One that cannot be read is shown too: somebody has to mend it. */
export function showStored(stored: StoredSchedule, now: number): object {
  const { name } = stored;
  if (!stored.ok) return { name, scraper: '', problem: stored.problem };
  const parsed = parseSchedule(stored.record.definition, now);
  if (!parsed.ok) return { name, scraper: '', problem: parsed.problems.join('; ') };
  return showSchedule(parsed.spec, stored.record, now);
}

export function showSchedule(spec: ScheduleSpec, record: ScheduleRecord, now: number): object {
  const { name, scraper, timing, priority, urls, overlap, catchUp } = spec;
  const { definition, createdAt, since, lastDueAt, paused } = record;
  const anchorAt = Math.max(since, lastDueAt ?? 0);
  const times = paused ? [] : nextTimes(spec, { from: now, count: TIMES, anchorAt });
  return {
    name,
    scraper,
    ...(timing.kind === 'every'
      ? { every: definition['every'] ?? `${timing.everyMs / 1000}s` }
      : { cron: timing.cron.pattern, timeZone: timing.timeZone }),
    priority,
    urls: urls.length,
    overlap,
    catchUp,
    paused,
    createdAt,
    ...(lastDueAt !== undefined && { lastDueAt }),
    ...(times[0] !== undefined && { nextAt: times[0] }),
    nextTimes: times,
  };
}
