/** The outcomes of tasks as lines of NDJSON or CSV, or as a table for a person. */
import type { TaskOutcome } from '../client/results.ts';
import { readItem, type Item } from '../domain/item.ts';
import { renderCsvLine, stringifyPlain } from '../sinks/csv.ts';
import { fieldsOf } from '../sinks/lines.ts';
import { createTable } from './result-lines.ts';

export type ResultFormat = 'table' | 'ndjson' | 'csv';
export type ResultState = 'done' | 'dead' | 'all';

export interface RowWriter {
  /** The text of one outcome: none, one or many lines. */
  write(outcome: TaskOutcome): string;
  /** What was held back until the end. */
  end?(): string;
  /** What a person should know when all is written. */
  remark(): string | undefined;
}

export function isWanted({ state }: TaskOutcome, wanted: ResultState): boolean {
  return wanted === 'all' || state === wanted;
}

export interface RowOptions {
  /** Only items of those. */
  readonly kinds?: readonly string[];
  /** Nothing is held back. */
  readonly atOnce?: boolean;
  /** Width of the terminal. */
  readonly columns?: number | undefined;
}

export function createRowWriter(
  format: ResultFormat,
  wanted: ResultState,
  { kinds = [], atOnce = false, columns }: RowOptions = {},
): RowWriter {
  const itemsOf = ({ items }: TaskOutcome): Item[] =>
    items
      .map(readItem)
      .filter(({ kind }) => kinds.length === 0 || (kind !== undefined && kinds.includes(kind)));
  if (format === 'table') return createTable({ itemsOf, wanted, atOnce, columns });
  if (format === 'ndjson') {
    const withoutItems = kinds.length === 0;
    const write = (outcome: TaskOutcome): string =>
      ndjsonLines(outcome, { items: itemsOf(outcome), wanted, withoutItems });
    return { write, remark: () => undefined };
  }
  return wanted === 'done' ? createItemTable(itemsOf) : createOutcomeTable(wanted, itemsOf);
}

export type ItemsOf = (outcome: TaskOutcome) => Item[];

/** One line per item. With `all`, a task without items has a line too, unless only some kinds are wanted. */
function ndjsonLines(
  outcome: TaskOutcome,
  { items, wanted, withoutItems }: { items: Item[]; wanted: ResultState; withoutItems: boolean },
): string {
  const { id, run, state, url, key, data, error } = outcome;
  const task = { task: id, run, state, url, key, at: storedAt(outcome) };
  if (items.length > 0)
    return items.map(({ kind, data: item }) => `${stringifyPlain({ ...task, kind, item })}\n`).join('');
  if (state === 'done' && (!withoutItems || (data === undefined && wanted === 'done'))) return '';
  return `${stringifyPlain({ ...task, data, error })}\n`;
}

function storedAt({ at }: TaskOutcome): string {
  return new Date(at).toISOString();
}

/** The columns are the fields of the first item, and its kind if it has one. */
function createItemTable(itemsOf: ItemsOf): RowWriter {
  let columns: readonly string[] | undefined;
  let withKind = false;
  const left = new Set<string>();
  let leftOut = 0;
  return {
    write: (outcome) =>
      itemsOf(outcome)
        .map((item) => lineOf(item, outcome))
        .join(''),
    remark() {
      if (leftOut === 0) return undefined;
      const names = [...left].slice(0, 5).join(', ');
      return `${leftOut} items have fields that the first one lacks (${names}): they are left out. \`--format ndjson\` has all.`;
    },
  };

  function lineOf({ kind, data }: Item, outcome: TaskOutcome): string {
    const fields = fieldsOf(data);
    let header = '';
    if (!columns) {
      columns = [...fields.keys()];
      withKind = kind !== undefined;
      header = renderCsvLine(['task_id', 'task_url', 'task_at', ...(withKind ? ['kind'] : []), ...columns]);
    }
    const known = columns;
    const others = [...fields.keys()].filter((name) => !known.includes(name));
    if (others.length > 0) leftOut += 1;
    for (const name of others) left.add(name);
    const cells = known.map((name) => fields.get(name));
    const { id, url } = outcome;
    return header + renderCsvLine([id, url, storedAt(outcome), ...(withKind ? [kind] : []), ...cells]);
  }
}

/** Outcomes of different kinds have no fields in common but these. */
function createOutcomeTable(wanted: ResultState, itemsOf: ItemsOf): RowWriter {
  const withItem = wanted === 'all' ? ['item'] : [];
  let header = renderCsvLine(['task_id', 'state', 'task_url', 'task_at', 'error_code', 'error', ...withItem]);
  return {
    write(outcome) {
      const { id, state, url, error } = outcome;
      const items = itemsOf(outcome).map(({ data }) => data);
      const common = [id, state, url, storedAt(outcome), error?.code, error?.message];
      const rows = items.length > 0 ? items.map((item) => [...common, item]) : [[...common, undefined]];
      const text = rows.map((row) => renderCsvLine(wanted === 'all' ? row : row.slice(0, -1))).join('');
      const first = header;
      header = '';
      return first + text;
    },
    remark: () => undefined,
  };
}
