/**
 * The registry of actors: one record per id, with a time limit, which its actor rewrites at each beat. A record that
 * is gone without having said `stopped` belonged to an actor that died.
 *
 * An id belongs to one process at a time. Its record is only ever changed by compare-and-set, so of two processes
 * with one id exactly one keeps it, and the other learns that it has lost it.
 */
import { parseBeat, type Beat } from '../domain/beat.ts';
import { Failure, messageOf } from '../domain/failure.ts';
import { decideClaim } from '../policy/liveness.ts';
import type { Log } from '../telemetry/log.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import { keys, TOKEN } from '../wire/names.ts';
import { isConflict, type Bucket, type Entry } from './bucket.ts';
import { createIdentity, type Identity, type IdentityOptions } from './identity.ts';

export interface ClaimOptions extends IdentityOptions {
  /** The first record; `beatAt` is set at each beat. */
  readonly beat: Omit<Beat, 'beatAt'>;
  /** Whether the process behind a record of our own place still runs. */
  readonly isRunning: (beat: Beat) => boolean;
}

export interface BeatChange {
  readonly key: string;
  readonly beat: Beat | undefined; // undefined: it expired, or was removed
}

const CLAIM_TRIES = 5;

/** Takes the id, or throws CONFLICT and says who has it. */
export async function claimIdentity(bucket: Bucket, options: ClaimOptions): Promise<Identity> {
  const { deadAfterMs: ttlMs } = options;
  const beat: Beat = parseBeat({ ...options.beat, beatAt: Date.now() });
  if (!TOKEN.test(beat.id))
    throw new Failure('INVALID', `not an id: ${JSON.stringify(beat.id)}`, {
      hint: 'Use 1 to 64 letters, digits, - and _.',
    });
  const key = keys.beat(beat.role, beat.id);
  const value = encodeJson(beat);
  for (let left = CLAIM_TRIES; ; left -= 1) {
    const entry = await bucket.get(key);
    const claim = decideClaim(entry && readBeat(entry), beat.place, options.isRunning);
    if (claim.verdict === 'refuse')
      throw new Failure('CONFLICT', claim.message, { hint: 'Choose another --id, or stop that one.' });
    try {
      const revision = entry
        ? await bucket.put(key, value, { ttlMs, expect: entry.revision })
        : await bucket.create(key, value, { ttlMs });
      if (claim.verdict === 'take-over')
        options.log.info('beat.taken-over', { role: beat.role, id: beat.id, reason: claim.reason });
      return createIdentity(bucket, { ...options, key, beat, revision });
    } catch (error) {
      // Somebody was faster: look again who it is.
      if (!isConflict(error) || left === 1) throw error;
    }
  }
}

export async function listBeats(bucket: Bucket, log: Log): Promise<Beat[]> {
  const entries = await bucket.list(keys.allBeats);
  return entries.flatMap((entry) => readable(entry, log) ?? []);
}

/** Calls back with the records that are there, then with each change; resolves when the former were told. */
export async function watchBeats(
  bucket: Bucket,
  options: { readonly log: Log; readonly signal: AbortSignal },
  listener: (change: BeatChange) => void,
): Promise<void> {
  await bucket.watch(
    keys.allBeats,
    ({ key, entry }) => {
      const beat = entry && readable(entry, options.log);
      if (beat || !entry) listener({ key, beat });
    },
    options.signal,
  );
}

/** The record, with the time at which the server stored it: one clock for the whole cluster. */
function readBeat(entry: Entry): Beat {
  try {
    return { ...parseBeat(decode(entry.value)), beatAt: entry.storedAt };
  } catch (cause) {
    throw new Failure('INVALID', `the record ${entry.key} cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: `Look at it with \`nats kv get\`, and remove it if nobody uses it.`,
    });
  }
}

function readable(entry: Entry, log: Log): Beat | undefined {
  try {
    return readBeat(entry);
  } catch (error) {
    log.warn('beat.unreadable', { key: entry.key, reason: messageOf(error) });
    return undefined;
  }
}
