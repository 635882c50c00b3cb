/**
 * Adds the records of lives that are over to that of the past, in an order that a death at any point neither loses nor
 * doubles:
 *
 *   close the record → add it to the past, with its name → remove it
 *
 * A record that is closed can no longer be changed by its owner, should he be alive after all. One whose name is in the
 * past is only removed.
 */
import { messageOf } from '../domain/failure.ts';
import { NO_TALLY } from '../domain/tally.ts';
import { HOSTS_KEPT, sumTallies } from '../policy/tally.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import { decodePast, encodeLife, encodePast } from '../wire/tally-record.ts';
import { isConflict, type Bucket } from './bucket.ts';
import type { Life } from './tally-watch.ts';

/** Lives at once; the others have their turn at the next look. */
const AT_ONCE_MAX = 100;
/** Names that the past remembers: more than are ever between being added and being removed. */
const NAMES_MAX = 1_000;
const MARKER_MS = 60_000;

/** How many were added. */
export async function foldTallies(bucket: Bucket, over: readonly Life[], log: Log): Promise<number> {
  const closing = over.slice(0, AT_ONCE_MAX).map((life) => close(bucket, life, log));
  const closed = (await Promise.all(closing)).flatMap((life) => life ?? []);
  if (closed.length === 0) return 0;
  const added = await addToPast(bucket, closed);
  await Promise.all(
    closed.map(({ key, revision }) =>
      bucket.purge(key, { expect: revision, markerTtlMs: MARKER_MS }).catch((error: unknown) => {
        // Somebody else has removed it; or it stays until the next look.
        log.debug('tally.unremoved', { key, reason: messageOf(error) });
      }),
    ),
  );
  return added;
}

/** As nobody else can change it any more; undefined: somebody just has. */
async function close(bucket: Bucket, life: Life, log: Log): Promise<Life | undefined> {
  if (life.record.closed) return life;
  const record = { ...life.record, closed: true };
  try {
    const revision = await bucket.put(life.key, encodeLife(record), { expect: life.revision });
    return { ...life, record, revision };
  } catch (error) {
    if (!isConflict(error)) throw error;
    log.debug('tally.alive', { key: life.key });
    return undefined;
  }
}

async function addToPast(bucket: Bucket, closed: readonly Life[]): Promise<number> {
  const entry = await bucket.get(keys.tallyPast);
  const past = entry ? decodePast(entry.value) : { sums: NO_TALLY, lives: [] };
  const known = new Set(past.lives.map(([name]) => name));
  const fresh = closed.filter(({ name }) => !known.has(name));
  if (fresh.length === 0) return 0;
  const names = fresh.map(({ name, record }): [string, number] => [name, record.serial]);
  const value = encodePast({
    sums: sumTallies([past.sums, ...fresh.map(({ record }) => record.sums)], HOSTS_KEPT),
    lives: [...past.lives, ...names].slice(-NAMES_MAX),
  });
  // Somebody else who adds at the same time is refused, or we are; then the next look finds out what is left.
  if (entry) await bucket.put(entry.key, value, { expect: entry.revision });
  else await bucket.create(keys.tallyPast, value);
  return fresh.length;
}
