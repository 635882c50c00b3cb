/** The outcomes of tasks as lines of NDJSON or CSV. */
import type { TaskOutcome } from '../client/results.ts';
import { renderCsvLine, stringifyPlain } from './csv.ts';

export type ResultFormat = 'ndjson' | 'csv';
export type ResultState = 'done' | 'dead' | 'all';

export interface RowWriter {
  /** The text of one outcome: none, one or many lines. */
  write(outcome: TaskOutcome): string;
  /** What a person should know when all is written. */
  remark(): string | undefined;
}

export function isWanted({ state }: TaskOutcome, wanted: ResultState): boolean {
  return wanted === 'all' || state === wanted;
}

export function createRowWriter(format: ResultFormat, wanted: ResultState): RowWriter {
  if (format === 'ndjson')
    return { write: (outcome) => ndjsonLines(outcome, wanted), remark: () => undefined };
  return wanted === 'done' ? createItemTable() : createOutcomeTable(wanted);
}

/** One line per item. With `all`, a task without items has a line too. */
function ndjsonLines(outcome: TaskOutcome, wanted: ResultState): string {
  const { id, run, state, url, key, items, data, error } = outcome;
  const task = { task: id, run, state, url, key };
  if (items.length > 0) return items.map((item) => `${stringifyPlain({ ...task, item })}\n`).join('');
  if (state === 'done' && data === undefined && wanted === 'done') return '';
  return `${stringifyPlain({ ...task, data, error })}\n`;
}

/** The columns are the fields of the first item. */
function createItemTable(): RowWriter {
  let columns: readonly string[] | undefined;
  const left = new Set<string>();
  let leftOut = 0;
  return {
    write: ({ id, url, items }) => items.map((item) => lineOf(fieldsOf(item), { id, url })).join(''),
    remark() {
      if (leftOut === 0) return undefined;
      const names = [...left].slice(0, 5).join(', ');
      return `${leftOut} items have fields that the first one lacks (${names}): they are left out. \`--format ndjson\` has all.`;
    },
  };

  function lineOf(fields: Map<string, unknown>, task: { id: string; url: string | undefined }): string {
    let header = '';
    if (!columns) {
      columns = [...fields.keys()];
      header = renderCsvLine(['task_id', 'task_url', ...columns]);
    }
    const known = columns;
    const others = [...fields.keys()].filter((name) => !known.includes(name));
    if (others.length > 0) leftOut += 1;
    for (const name of others) left.add(name);
    return header + renderCsvLine([task.id, task.url, ...known.map((name) => fields.get(name))]);
  }
}

/** Outcomes of different kinds have no fields in common but these. */
function createOutcomeTable(wanted: ResultState): RowWriter {
  const withItem = wanted === 'all' ? ['item'] : [];
  let header = renderCsvLine(['task_id', 'state', 'task_url', 'error_code', 'error', ...withItem]);
  return {
    write({ id, state, url, error, items }) {
      const common = [id, state, url, error?.code, error?.message];
      const rows = items.length > 0 ? items.map((item) => [...common, item]) : [[...common, undefined]];
      const text = rows.map((row) => renderCsvLine(wanted === 'all' ? row : row.slice(0, -1))).join('');
      const first = header;
      header = '';
      return first + text;
    },
    remark: () => undefined,
  };
}

function fieldsOf(item: unknown): Map<string, unknown> {
  if (typeof item === 'object' && item !== null && !Array.isArray(item) && !(item instanceof Uint8Array))
    return new Map(Object.entries(item));
  return new Map([['value', item]]);
}
