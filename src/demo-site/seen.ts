/**
 * What the requests of a log prove about those who sent them: how close they came, how many at once, how many within
 * a time. Pure, and told by the worst case: the least distance, the highest count.
 */
import type { RequestRecord } from './request-log.ts';

export const GROUPINGS = ['site', 'host', 'ip', 'egress', 'host+ip'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface Look {
  /** Who is measured apart from whom; `site` = everybody together. */
  readonly by?: Grouping;
  /** Only requests whose path begins with this. */
  readonly path?: string;
}

/** The least time between the starts of two requests of one group; Infinity when no group has two. */
export function findSpacing(records: readonly RequestRecord[], look: Look = {}): number {
  let least = Infinity;
  for (const group of groupsOf(records, look)) {
    for (let index = 1; index < group.length; index += 1) {
      least = Math.min(least, startOf(group[index]) - startOf(group[index - 1]));
    }
  }
  return least;
}

/** The most requests of one group that were under way at one moment. */
export function findMaxConcurrent(records: readonly RequestRecord[], look: Look = {}): number {
  let most = 0;
  for (const group of groupsOf(records, look)) {
    const ends = group.map(({ endMs }) => endMs ?? Infinity).sort((a, b) => a - b);
    let ended = 0;
    for (const [index, { startMs }] of group.entries()) {
      while ((ends[ended] ?? Infinity) <= startMs) ended += 1;
      most = Math.max(most, index + 1 - ended);
    }
  }
  return most;
}

/** The most requests of one group that started within any stretch of this length. */
export function findMaxPerWindow(
  records: readonly RequestRecord[],
  windowMs: number,
  look: Look = {},
): number {
  let most = 0;
  for (const group of groupsOf(records, look)) {
    let oldest = 0;
    for (const [index, { startMs }] of group.entries()) {
      while (startOf(group[oldest]) <= startMs - windowMs) oldest += 1;
      most = Math.max(most, index + 1 - oldest);
    }
  }
  return most;
}

export function countBy(
  records: readonly RequestRecord[],
  key: (record: RequestRecord) => string,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const record of records) counts.set(key(record), (counts.get(key(record)) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Each group in the order of arrival. */
function groupsOf(records: readonly RequestRecord[], { by = 'site', path = '' }: Look): RequestRecord[][] {
  const groups = new Map<string, RequestRecord[]>();
  for (const record of records) {
    if (!record.path.startsWith(path)) continue;
    const key = keyOf(record, by);
    const group = groups.get(key);
    if (group) group.push(record);
    else groups.set(key, [record]);
  }
  return [...groups.values()].map((group) => group.sort((a, b) => a.startMs - b.startMs));
}

function keyOf(record: RequestRecord, by: Grouping): string {
  switch (by) {
    case 'site':
      return '';
    case 'host':
      return record.host;
    case 'ip':
      return record.ip;
    case 'egress':
      return record.egress;
    case 'host+ip':
      return `${record.host} ${record.ip}`;
  }
}

function startOf(record: RequestRecord | undefined): number {
  return record?.startMs ?? Infinity;
}
