/** Finds the rows that are refused, by writing halves of what is refused, and halves of those. */
import { asFailure } from '../domain/failure.ts';
import type { Rejected, SinkRow } from './row.ts';

/** Resolves to what cannot be written; all the rest is. A failure that is no refusal is thrown. */
export async function writeHalving(
  rows: readonly SinkRow[],
  write: (rows: readonly SinkRow[]) => Promise<void>,
): Promise<Rejected[]> {
  if (rows.length === 0) return [];
  try {
    await write(rows);
    return [];
  } catch (error) {
    const { code, message } = asFailure(error);
    if (code !== 'REJECTED') throw error;
    const [row] = rows;
    if (row && rows.length === 1)
      return [{ seq: row.seq, n: row.n, run: row.run, task: row.task, row, problem: message }];
  }
  const half = Math.ceil(rows.length / 2);
  return [
    ...(await writeHalving(rows.slice(0, half), write)),
    ...(await writeHalving(rows.slice(half), write)),
  ];
}
