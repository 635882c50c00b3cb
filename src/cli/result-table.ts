/** Items as columns that fit a terminal: as many fields as there is room for, and of long ones the beginning. */
import type { TaskOutcome } from '../client/results.ts';
import type { Item } from '../domain/item.ts';
import { stringifyPlain } from '../sinks/csv.ts';
import { fieldsOf } from '../sinks/lines.ts';

const COLUMNS_DEFAULT = 100;
const CELL_MAX = 32;
const GAP = 2;
const PARTS_MAX = 3;

export type Row = ReadonlyMap<string, unknown>;

export interface Column {
  readonly name: string;
  readonly width: number;
}

export function rowOfItem({ kind, data }: Item): Row {
  const fields = fieldsOf(data);
  return new Map<string, unknown>(kind === undefined ? fields : [['kind', kind], ...fields]);
}

export function rowOfOutcome({ id, state, url, key, error }: TaskOutcome): Row {
  return new Map(Object.entries({ task: id, state, code: error?.code, error: error?.message, url, key }));
}

/** The fields of these rows, in the order in which they have them; a field that does not fit makes room for the next. */
export function planColumns(rows: readonly Row[], columns = COLUMNS_DEFAULT): Column[] {
  const planned: Column[] = [];
  let left = columns;
  for (const name of new Set(rows.flatMap((row) => [...row.keys()]))) {
    const cells = rows.map((row) => renderCell(row.get(name)).length);
    if (Math.max(...cells) === 0) continue;
    const width = Math.max(name.length, ...cells);
    if (planned.length > 0 && width > left) continue;
    planned.push({ name, width });
    left -= width + GAP;
  }
  return planned;
}

export function renderHeader(columns: readonly Column[]): string {
  return renderLine(columns, ({ name }) => name.toUpperCase());
}

export function renderRow(columns: readonly Column[], row: Row): string {
  return renderLine(columns, ({ name, width }) => cut(renderCell(row.get(name)), width));
}

/** All at once. */
export function renderItems(items: readonly Item[], columns?: number): string {
  const rows = items.map(rowOfItem);
  const planned = planColumns(rows, columns);
  return [renderHeader(planned), ...rows.map((row) => renderRow(planned, row))].join('\n');
}

function renderLine(columns: readonly Column[], cellOf: (column: Column) => string): string {
  return columns
    .map((column) => cellOf(column).padEnd(column.width))
    .join(' '.repeat(GAP))
    .trimEnd();
}

/** On one line, and without what would move the cursor. */
function renderCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = renderValue(value);
  return cut(text.replace(/\p{Cc}+/gu, ' '), CELL_MAX);
}

/** What has few parts is shown by them, `352.44 USD`; of a list it says how long it is. */
function renderValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `${value.length} ×`;
  const parts = typeof value === 'object' && value !== null ? Object.values(value) : [];
  const areFew = parts.length > 0 && parts.length <= PARTS_MAX;
  return areFew && parts.every((part) => typeof part !== 'object')
    ? parts.map((part) => String(part)).join(' ')
    : stringifyPlain(value);
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
