/** The records of a run's tasks, or of all runs, as the ledger has them now. */
import type { LedgerRecord } from '../domain/task.ts';
import { followLedger } from '../nats/ledger-follow.ts';
import { requireRun, withEmitted, type ResultsPorts } from './results.ts';

export interface RecordsOptions {
  readonly run?: string | undefined;
  /** Whether items are wanted that were too large for the record. */
  readonly withItems: boolean;
}

export async function* readRecords(
  { connection, bucket, names }: ResultsPorts,
  { run, withItems }: RecordsOptions,
): AsyncGenerator<LedgerRecord, void, undefined> {
  if (run !== undefined) await requireRun(bucket, run);
  const reading = new AbortController();
  const place = { names, run: run ?? '*', signal: reading.signal, over: Promise.resolve() };
  try {
    for await (const { record } of followLedger(connection, place))
      yield record.state === 'queued' || !withItems
        ? record
        : await withEmitted({ connection, names }, record);
  } finally {
    reading.abort();
  }
}
