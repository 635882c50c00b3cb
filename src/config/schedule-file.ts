/** A YAML file of schedules: a list, or a list under `schedules`; each entry with the line on which it stands. */
import { isMap, isSeq, LineCounter, parseDocument } from 'yaml';

export interface ScheduleEntry {
  readonly line: number;
  readonly definition: unknown;
}

export type ScheduleFile =
  | { readonly ok: true; readonly entries: readonly ScheduleEntry[] }
  /** Where the text is no YAML, nobody can tell where one entry ends. */
  | { readonly ok: false; readonly problems: readonly { readonly line: number; readonly problem: string }[] };

export function parseScheduleFile(text: string): ScheduleFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number | undefined): number => Math.max(1, lines.linePos(offset ?? 0).line);
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => ({ line: lineOf(pos[0]), problem: message }));
    return { ok: false, problems };
  }
  const root = document.contents;
  const list = isMap(root) ? root.get('schedules', true) : root;
  if (!isSeq(list)) {
    const problem = 'there is no list `schedules:` in it';
    return { ok: false, problems: [{ line: lineOf(root?.range[0]), problem }] };
  }
  const values = list.toJS(document) as unknown[];
  const entries = list.items.map((item, place) => {
    const range = (item as { range?: readonly number[] | null } | null)?.range;
    return { line: lineOf(range?.[0] ?? list.range[0]), definition: values[place] };
  });
  return { ok: true, entries };
}
