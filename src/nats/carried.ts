/**
 * The attempts that an open task has behind it. Its record in the ledger is of when it was accepted; what it has been
 * through since travels with its message, which waits in the queue, for its time, or is in somebody's hand.
 */
import type { Fault, TaskMessage } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import { decodeTask } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import type { LedgerWriter } from './ledger.ts';
import { readLast, readPages } from './read-last.ts';

const LIMIT_MS = 10_000;

/** Of one task; undefined where it has no message. */
export async function readCarried(
  connection: Connection,
  names: Names,
  task: { readonly run: string; readonly id: string },
): Promise<readonly Fault[] | undefined> {
  const stream = names.stream('TASKS');
  const found = await readLast(connection, { stream, subjects: places(names, task) });
  const carried = [...found.values()].flatMap(({ data }) => {
    const task = readTask(data);
    return task ? [task.faults] : [];
  });
  // A task that moves may be met in two places: the longer history is the later one.
  return carried.sort((a, b) => b.length - a.length)[0];
}

/** Settles as cancelled what a run has tried already, with all of its attempts; how many tasks it was. */
export async function cancelCarried(
  connection: Connection,
  { names, writer }: { names: Names; writer: LedgerWriter },
  { run, reason, over }: { run: string; reason: string; over?: AbortSignal | undefined },
): Promise<number> {
  let settled = 0;
  for (const subject of places(names, { run, id: '*' })) {
    const query = { stream: names.stream('TASKS'), subject, limitMs: LIMIT_MS };
    for await (const page of readPages(connection, query)) {
      if (over?.aborted) return settled;
      const tried = [...page.values()].flatMap(({ data }) => {
        const task = readTask(data);
        return task && task.faults.length > 0 ? [task] : [];
      });
      const outcomes = await Promise.all(
        tried.map(({ spec, faults, acceptSeq }) =>
          writer.settle({ state: 'cancelled', spec, faults, at: Date.now(), reason }, acceptSeq),
        ),
      );
      settled += outcomes.filter(({ kind }) => kind === 'stored').length;
    }
  }
  return settled;
}

/** Ready or in somebody's hand, waiting for its time, held back. */
function places(names: Names, { run, id }: { readonly run: string; readonly id: string }): string[] {
  return [...names.ready({ run, id }), names.delay({ run, id }), names.parked({ run, id })];
}

/** What is no task carries nothing. */
function readTask(data: Uint8Array): TaskMessage | undefined {
  try {
    return decodeTask(data);
  } catch {
    return undefined;
  }
}
