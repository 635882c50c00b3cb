/** Rows as lines of NDJSON or CSV. */
import { renderCsvLine } from './csv.ts';
import { renderRow, type SinkRow } from './row.ts';

export interface LineWriter {
  /** The line, or undefined when the row needs a file with another header. */
  line(row: SinkRow): string | undefined;
  /** The header of a file that begins with this row. */
  begin(row: SinkRow): string;
  /** What a later process must know to go on with the same file. */
  columns(): readonly string[];
}

export function createNdjsonLines(): LineWriter {
  return { line: (row) => `${renderRow(row)}\n`, begin: () => '', columns: () => [] };
}

/** Marked, so that they are not taken for fields of the items. */
const OWN = ['_run', '_task', '_n', '_kind', '_scraper', '_url', '_at'];
/** Beyond so many, fields that are new go into one last column: items may have fields without end. */
const COLUMNS_MAX = 256;
const MORE = '_more';

/**
 * A field that no column has begins a new file, with one column more: nothing is left out. With `chosen` columns the
 * files have those, and the other fields are left out on purpose.
 */
export function createCsvLines({
  chosen,
  columns: known = [],
}: {
  chosen?: readonly string[] | undefined;
  columns?: readonly string[] | undefined;
}): LineWriter {
  let columns: readonly string[] = chosen ?? known;
  let index = new Set(columns);

  return {
    line(row) {
      const fields = fieldsOf(row.item);
      const news = chosen ? [] : [...fields.keys()].filter((name) => !index.has(name));
      if (news.length > 0 && !index.has(MORE)) return undefined;
      const cells = columns.map((name) =>
        name === MORE && !chosen ? moreOf(fields, news) : fields.get(name),
      );
      const { run, task, n, kind, scraper, url, at } = row;
      return renderCsvLine([run, task, n, kind, scraper, url, at, ...cells]);
    },
    begin(row) {
      if (!chosen) {
        const all = [...new Set([...columns, ...fieldsOf(row.item).keys()])].filter((name) => name !== MORE);
        columns = all.length > COLUMNS_MAX ? [...all.slice(0, COLUMNS_MAX), MORE] : all;
        index = new Set(columns);
      }
      return renderCsvLine([...OWN, ...columns]);
    },
    columns: () => columns,
  };
}

function moreOf(fields: ReadonlyMap<string, unknown>, names: readonly string[]): unknown {
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, fields.get(name)]));
}

/** What is no object has one field, `value`. */
export function fieldsOf(item: unknown): Map<string, unknown> {
  if (typeof item === 'object' && item !== null && !Array.isArray(item) && !(item instanceof Uint8Array))
    return new Map(Object.entries(item));
  return new Map([['value', item]]);
}
