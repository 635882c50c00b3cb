/** Settles as cancelled whatever a run still has open, and counts whatever was stored by somebody who died of it. */
import type { Names } from '../wire/names.ts';
import { cancelCarried } from './carried.ts';
import { decodeStored } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import type { LedgerWriter } from './ledger.ts';
import { readPages } from './read-last.ts';

const LIMIT_MS = 10_000;

/** How many tasks it settled. What others settle meanwhile is theirs: each task has one outcome. */
export async function cancelLeft(
  connection: Connection,
  { names, writer }: { names: Names; writer: LedgerWriter },
  { run, over }: { run: string; over: AbortSignal },
): Promise<number> {
  const reason = 'its run was cancelled';
  let settled = await cancelCarried(connection, { names, writer }, { run, reason, over });
  const query = { stream: names.stream('LEDGER'), subject: names.ledger(run, '*'), limitMs: LIMIT_MS };
  for await (const page of readPages(connection, query)) {
    if (over.aborted) break;
    const found = [...page.values()].map(({ seq, data }) => ({ seq, ...decodeStored(data) }));
    await writer.ensureCounted(found);
    const outcomes = await Promise.all(
      found.map(async ({ seq, record }) => {
        if (record.state !== 'queued') return undefined;
        const { spec, faults } = record;
        return writer.settle({ state: 'cancelled', spec, faults, at: Date.now(), reason }, seq);
      }),
    );
    settled += outcomes.filter((outcome) => outcome?.kind === 'stored').length;
  }
  return settled;
}
