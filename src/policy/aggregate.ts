/** Sums over outcomes, in groups. One outcome is looked at and forgotten: the memory is that of the groups. */
import { readItem } from '../domain/item.ts';
import { countItems, type LedgerRecord } from '../domain/task.ts';

export const GROUPINGS = ['scraper', 'host', 'status', 'kind'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupSum {
  readonly group: string;
  tasks: number;
  done: number;
  dead: number;
  cancelled: number;
  queued: number;
  items: number;
  /** Fetched; in groups by kind, of the items themselves as JSON. */
  bytes: number;
  /** Items that the scraper's own schema refused. */
  badItems: number;
  /** Failed attempts, those that were tried again among them. */
  errors: number;
}

export interface Aggregate {
  /** Items that were kept apart from the record must have been read back into it, where they are grouped by kind. */
  add(record: LedgerRecord): void;
  /** Largest first. */
  groups(): readonly GroupSum[];
  total(): GroupSum;
}

export const NO_KIND = '(none)';
/** Hosts may have no end. */
export const OTHERS = '(others)';
const GROUPS_MAX = 10_000;

export function createAggregate(by: Grouping, options: { groupsMax?: number } = {}): Aggregate {
  const { groupsMax = GROUPS_MAX } = options;
  const sums = new Map<string, GroupSum>();
  const all = emptySum('total');

  return {
    add(record) {
      addTask(all, record);
      if (by === 'kind') addKinds(record);
      else addTask(sumOf(groupOf(record, by)), record);
    },
    groups: () => [...sums.values()].sort((a, b) => b.tasks - a.tasks || a.group.localeCompare(b.group)),
    total: () => all,
  };

  function sumOf(group: string): GroupSum {
    const name = sums.has(group) || sums.size < groupsMax ? group : OTHERS;
    let sum = sums.get(name);
    if (!sum) sums.set(name, (sum = emptySum(name)));
    return sum;
  }

  /** A task counts once in each kind that it emitted. */
  function addKinds(record: LedgerRecord): void {
    if (record.state !== 'done') return;
    const seen = new Set<GroupSum>();
    for (const stored of record.result.items) {
      const { kind = NO_KIND, data } = readItem(stored);
      const sum = sumOf(kind);
      sum.items += 1;
      sum.bytes += sizeOf(data);
      seen.add(sum);
    }
    for (const sum of seen) {
      sum.tasks += 1;
      sum.done += 1;
      sum.errors += record.faults.length;
    }
  }
}

function addTask(sum: GroupSum, record: LedgerRecord): void {
  sum.tasks += 1;
  sum[record.state] += 1;
  sum.errors += record.faults.length;
  if (record.state !== 'done') return;
  sum.items += countItems(record.result);
  sum.badItems += record.result.errors ?? 0;
  sum.bytes += record.result.bytes;
}

function groupOf({ spec, ...record }: LedgerRecord, by: 'scraper' | 'host' | 'status'): string {
  if (by === 'scraper') return spec.scraper;
  if (by === 'status') return record.state === 'dead' ? `dead ${record.error.code}` : record.state;
  return spec.url !== undefined && URL.canParse(spec.url) ? new URL(spec.url).host : '(no host)';
}

function emptySum(group: string): GroupSum {
  const counts = { tasks: 0, done: 0, dead: 0, cancelled: 0, queued: 0 };
  return { group, ...counts, items: 0, badItems: 0, bytes: 0, errors: 0 };
}

function sizeOf(data: unknown): number {
  if (data instanceof Uint8Array) return data.length;
  const text = JSON.stringify(data, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  ) as string | undefined;
  return text === undefined ? 0 : Buffer.byteLength(text);
}
