/** Removes all that is stored of a run that has ended: its tasks, their items, its dead letters, its counters, its record. */
import { countsOfFinal, latestCounts } from '../policy/counters.ts';
import { keys, type Names } from '../wire/names.ts';
import { decodeRun } from '../wire/run-record.ts';
import type { Bucket, Entry } from './bucket.ts';
import type { Connection } from './connect.ts';
import { addGoneRun } from './gone-runs.ts';
import { createLedgerReader } from './ledger-reader.ts';

export async function eraseRun(
  connection: Connection,
  { names, bucket }: { names: Names; bucket: Bucket },
  run: string,
): Promise<number> {
  const { jsm } = connection;
  const ledger = names.stream('LEDGER');
  const record = await bucket.get(keys.run(run));
  // First: what the cluster has done stays done, also when nobody can look at it any more.
  if (record) await keepCounts(connection, { names, bucket }, record);
  const { purged } = await jsm.streams.purge(ledger, { filter: names.ledger(run, '*') });
  await jsm.streams.purge(ledger, { filter: names.dead(run, '*') });
  await jsm.streams.purge(ledger, { filter: names.count(run, '*') });
  await jsm.streams.purge(ledger, { filter: names.page(run, '*', '*') });
  const anyBlob = names.blob({ run, id: '*' }, '*', '*');
  await jsm.streams.purge(names.stream('BLOBS'), { filter: anyBlob });
  const entry = await bucket.get(keys.run(run));
  // Last: a removal that was cut short can be asked for again.
  if (entry) await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: 60_000 });
  return purged;
}

/** Its counters, or those that it ended with, should a first removal have got as far as the counters. */
async function keepCounts(
  connection: Connection,
  { names, bucket }: { names: Names; bucket: Bucket },
  entry: Entry,
): Promise<void> {
  const run = decodeRun(entry.value);
  const counts = await createLedgerReader(connection, names).counts(run.id);
  await addGoneRun(bucket, run, run.final ? latestCounts(counts, countsOfFinal(run.final)) : counts);
}
