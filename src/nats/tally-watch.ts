/**
 * Follows what all actors have counted. The server tells the changes in their order, so whoever was added to the past
 * is told of there before his own record goes; until then he is known by his name, and left out.
 */
import { messageOf } from '../domain/failure.ts';
import { NO_TALLY, type TallySums } from '../domain/tally.ts';
import { sumTallies } from '../policy/tally.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import { decodeLife, decodePast, type LifeRecord, type PastRecord } from '../wire/tally-record.ts';
import type { Bucket, Entry } from './bucket.ts';

export interface Life {
  readonly key: string;
  readonly name: string;
  readonly revision: number;
  readonly storedAt: number; // epoch ms, by the server's clock
  readonly record: LifeRecord;
}

export interface TallyWatch {
  lives(): Iterable<Life>;
  /** Of all lives, also of those that are over. */
  sum(): TallySums;
}

/** Hosts of the whole cluster that are told apart. */
const HOSTS_MAX = 2_000;

/** Resolves when what is there has been heard. */
export async function watchTallies(
  bucket: Bucket,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<TallyWatch> {
  const lives = new Map<string, Life>();
  let past: PastRecord = { sums: NO_TALLY, lives: [] };
  let known: TallySums | undefined;
  await bucket.watch(
    keys.allTallies,
    ({ key, entry }) => {
      known = undefined;
      try {
        if (key === keys.tallyPast) past = entry ? decodePast(entry.value) : past;
        else if (entry) lives.set(key, lifeOf(entry));
        else lives.delete(key);
      } catch (error) {
        log.warn('tally.unreadable', { key, reason: messageOf(error) });
      }
    },
    signal,
  );
  return { lives: () => lives.values(), sum: () => (known ??= sum()) };

  function sum(): TallySums {
    const over = new Set(past.lives.map(([name]) => name));
    const present = [...lives.values()].filter(({ name }) => !over.has(name));
    return sumTallies([past.sums, ...present.map(({ record }) => record.sums)], HOSTS_MAX);
  }
}

function lifeOf({ key, value, revision, storedAt }: Entry): Life {
  return { key, name: nameOf(key), revision, storedAt, record: decodeLife(value) };
}

/** `tally.<role>.<life>` */
function nameOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}
