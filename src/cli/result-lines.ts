/** A table of results that grows: what its columns are is decided by the first rows. */
import type { TaskOutcome } from '../client/results.ts';
import type { ItemsOf, ResultState, RowWriter } from './result-rows.ts';
import {
  planColumns,
  renderHeader,
  renderRow,
  rowOfItem,
  rowOfOutcome,
  type Column,
  type Row,
} from './result-table.ts';

/** So many are looked at before the first is shown. */
const SAMPLE = 100;

export function createTable(options: {
  readonly itemsOf: ItemsOf;
  readonly wanted: ResultState;
  readonly atOnce: boolean;
  readonly columns: number | undefined;
}): RowWriter {
  const { itemsOf, wanted, atOnce } = options;
  let held: Row[] = [];
  let columns: readonly Column[] | undefined;
  return {
    write(outcome) {
      held.push(...rowsOf(outcome));
      return held.length >= (columns || atOnce ? 1 : SAMPLE) ? flush() : '';
    },
    end: () => (held.length > 0 ? flush() : ''),
    remark: () => undefined,
  };

  /** Of what is dead there are no items, and of all both may be there. */
  function rowsOf(outcome: TaskOutcome): Row[] {
    const items = itemsOf(outcome);
    if (items.length === 0 || wanted === 'dead') return wanted === 'done' ? [] : [rowOfOutcome(outcome)];
    return items.map(rowOfItem);
  }

  function flush(): string {
    const rows = held;
    held = [];
    const isFirst = columns === undefined;
    const planned = columns ?? planColumns(rows, options.columns);
    columns = planned;
    const lines = rows.map((row) => renderRow(planned, row));
    return [...(isFirst ? [renderHeader(planned)] : []), ...lines, ''].join('\n');
  }
}
