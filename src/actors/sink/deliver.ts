/** Delivers one batch of the ledger and commits it. */
import { asFailure } from '../../domain/failure.ts';
import type { Stop } from '../../runtime/actor.ts';
import { writeHalving } from '../../sinks/halving.ts';
import { chunksOf, rowsOf, type Rejected, type SinkRow } from '../../sinks/row.ts';
import type { SinkTarget } from '../../sinks/target.ts';
import type { SinkEntry, SinkPorts, SinkTerm } from './ports.ts';
import type { Progress } from './progress.ts';

export interface DeliveryContext {
  readonly target: SinkTarget;
  readonly term: SinkTerm;
  readonly progress: Progress;
  readonly stop: Stop;
  readonly kinds: readonly string[] | undefined;
}

export async function deliverBatch(
  batch: readonly SinkEntry[],
  { target, term, progress, stop, kinds }: DeliveryContext,
  ports: SinkPorts,
): Promise<void> {
  const last = batch.at(-1);
  if (!last) return;
  const before = progress.checkpoint();
  const { rows, rejected } = await readRows(batch, kinds, ports);
  if (target.remembers === 'batches' && rows.length > 0) {
    progress.set({ ...before, pending: last.seq });
    await progress.save();
  }
  const known =
    target.remembers === 'batches' && progress.partial?.through === last.seq ? progress.partial : undefined;
  let written = known?.rows ?? 0;
  const refused: Rejected[] = [...(known?.rejected ?? [])];
  for (const chunk of chunksOf(rows.slice(written), target.limits)) {
    term.check();
    const context = { signal: stop.abort, life: before.life?.sink, replayed: before.replayed };
    refused.push(...(await writeHalving(chunk, (some) => target.write(some, context))));
    written += chunk.length;
    progress.partial = { through: last.seq, rows: written, rejected: [...refused] };
  }
  progress.partial = undefined;
  rejected.push(...refused);
  term.check();
  await target.putAside(rejected.sort((a, b) => a.seq - b.seq || (a.n ?? -1) - (b.n ?? -1)));
  const items = rows.length - refused.length;
  const checkpoint = {
    ...before,
    pending: undefined,
    seq: last.seq,
    items: before.items + items,
    rejected: before.rejected + rejected.length,
  };
  await target.commit(checkpoint);
  await progress.advance(checkpoint, {
    atOnce: target.remembers === 'batches' || target.remembers === 'nothing',
  });
  last.done();
  ports.meters.delivered({ items, rejected: rejected.length });
  if (rejected.length > 0)
    ports.log.warn('sink.put-aside', { count: rejected.length, first: rejected[0]?.problem });
}

/** What cannot be read is put aside like what cannot be written. */
async function readRows(
  batch: readonly SinkEntry[],
  kinds: readonly string[] | undefined,
  { complete }: SinkPorts,
): Promise<{ rows: SinkRow[]; rejected: Rejected[] }> {
  const rows: SinkRow[] = [];
  const rejected: Rejected[] = [];
  for (const { seq, record, problem, subject } of batch) {
    if (!record) {
      const [run, task] = subject.split('.').slice(-2);
      rejected.push({ seq, run, task, problem: problem ?? 'it cannot be read' });
      continue;
    }
    if (record.state !== 'done') continue;
    try {
      const found = rowsOf(seq, await complete(record), kinds);
      // One by one: a task may have more items than a call takes arguments.
      for (const row of found.rows) rows.push(row);
      for (const each of found.rejected) rejected.push(each);
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code !== 'INVALID') throw failure;
      rejected.push({ seq, run: record.spec.run, task: record.spec.id, problem: failure.message });
    }
  }
  return { rows, rejected };
}
