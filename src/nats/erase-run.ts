/** Removes all that is stored of a run that has ended: its tasks, their items, its dead letters, its counters, its record. */
import { keys, type Names } from '../wire/names.ts';
import type { Bucket } from './bucket.ts';
import type { Connection } from './connect.ts';

export async function eraseRun(
  { jsm }: Connection,
  { names, bucket }: { names: Names; bucket: Bucket },
  run: string,
): Promise<number> {
  const ledger = names.stream('LEDGER');
  const { purged } = await jsm.streams.purge(ledger, { filter: names.ledger(run, '*') });
  await jsm.streams.purge(ledger, { filter: names.dead(run, '*') });
  await jsm.streams.purge(ledger, { filter: names.count(run, '*') });
  const anyBlob = names.blob({ run, id: '*' }, '*', '*');
  await jsm.streams.purge(names.stream('BLOBS'), { filter: anyBlob });
  const entry = await bucket.get(keys.run(run));
  // Last: a removal that was cut short can be asked for again.
  if (entry) await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: 60_000 });
  return purged;
}
