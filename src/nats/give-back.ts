/**
 * Gives back, for a worker that died, the tasks it had in hand: another one gets them before the lease runs out. By
 * life, not by id: its successor may have begun tasks by now, and those are in good hands.
 */
import type { Beat } from '../domain/beat.ts';
import { decode } from '../wire/codec.ts';
import { keys } from '../wire/names.ts';
import type { Bucket } from './bucket.ts';
import type { Connection } from './connect.ts';

const GIVE_BACK = new TextEncoder().encode('-NAK');

/** How many there were. Twice is once too often, but harmless: each task still ends in one outcome. */
export async function giveBackTasksOf(
  { nc }: Connection,
  bucket: Bucket,
  life: Pick<Beat, 'id' | 'startedAt'>,
): Promise<number> {
  const entry = await bucket.get(keys.inHand(life));
  if (!entry) return 0;
  // Of two leaders that find it, the one that removes it acts.
  await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: 60_000 });
  const hands = decode(entry.value) as readonly { readonly reply: string }[];
  for (const { reply } of hands) nc.publish(reply, GIVE_BACK);
  return hands.length;
}
