/**
 * Keeps what one life of an actor has counted in the `cluster` bucket: the sums since its beginning, whole, in one
 * record of its own, some time after they have changed. An actor that counts nothing writes nothing.
 *
 * When the life is over, its record is added to that of the past (tally-fold.ts). Somebody who was only asleep may find
 * that this has happened to him: then the server refuses his next record, and he goes on under a new life with what
 * came after the last record that was stored. So nothing is lost, and nothing is counted twice.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, messageOf } from '../domain/failure.ts';
import { NO_TALLY, type TallySums } from '../domain/tally.ts';
import { addTallies, nextTally } from '../policy/tally.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import { decodeLife, decodePast, encodeLife, type LifeRecord } from '../wire/tally-record.ts';
import type { Bucket } from './bucket.ts';

export interface TallyOptions {
  readonly role: string;
  readonly actor: string;
  /** As its heartbeat has it. */
  readonly startedAt: number;
  /** What was counted since it was last asked. */
  readonly take: () => TallySums | undefined;
  /** Hears that there is something to take again. */
  readonly onCount: (listener: () => void) => void;
  readonly everyMs?: number;
  readonly log: Log;
}

export interface TallyKeeper {
  /** Stores what there is now. */
  flush(): Promise<void>;
  /** The same for the last time. */
  close(): Promise<void>;
}

const EVERY_MS = 2_000;
const LIMIT_MS = 5_000;
/** An actor that stops does not wait for a server that is away. */
const LAST_LIMIT_MS = 1_500;
const TRIES = 3;

/** What was counted, and the first record that it went into. */
interface Part {
  readonly since: number;
  readonly sums: TallySums;
}

export function keepTally(bucket: Bucket, options: TallyOptions): TallyKeeper {
  const { role, actor, startedAt, log } = options;
  let life = createLife();
  let revision = 0;
  let serial = 0; // of the last record that may have been stored
  let stored = NO_TALLY;
  /** What is in no record that is known to be stored. */
  let parts: readonly Part[] = [];
  let inDoubt = false;
  let closing = false;
  let closed = false;
  let failing = false;
  let queue = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  options.onCount(flushLater);

  return {
    flush,
    async close() {
      closing = true;
      clearTimeout(timer);
      const stored = queue.then(() => {
        closed = true;
        return flush();
      });
      // What is not stored by then is lost, and the life is closed by somebody else.
      await Promise.race([stored, delay(LAST_LIMIT_MS, undefined, { ref: false })]);
    },
  };

  /** One after the other, and never a rejection: what was not stored goes with the next one. */
  function flush(): Promise<void> {
    queue = queue
      .then(() => store(TRIES))
      .then(
        () => void (failing = false),
        (error: unknown) => {
          if (!failing) log.warn('tally.unstored', { reason: messageOf(error) });
          failing = true;
          flushLater();
        },
      );
    return queue;
  }

  function flushLater(): void {
    if (closing) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, options.everyMs ?? EVERY_MS).unref();
  }

  async function store(tries: number): Promise<void> {
    if (inDoubt) await findOut();
    take();
    if (parts.length === 0 && !(closed && revision > 0)) return;
    const sums = parts.reduce((sum, part) => nextTally(sum, part.sums), stored);
    const record = { role, actor, startedAt, serial: serial + 1, closed, sums };
    try {
      const limitMs = closed ? LAST_LIMIT_MS : LIMIT_MS;
      revision = await bucket.put(keys.tally(role, life), encodeLife(record), { expect: revision, limitMs });
    } catch (error) {
      const { code } = asFailure(error);
      inDoubt = code !== 'UNAVAILABLE';
      if (inDoubt) serial += 1;
      if (code !== 'CONFLICT' || tries <= 1) throw error;
      return store(tries - 1);
    }
    serial += 1;
    confirm(record);
  }

  function take(): void {
    const taken = options.take();
    if (!taken) return;
    const since = serial + 1;
    const last = parts.at(-1);
    const joined = last?.since === since ? [...parts.slice(0, -1), join(last, taken)] : undefined;
    parts = joined ?? [...parts, { since, sums: taken }];
  }

  function confirm(record: Pick<LifeRecord, 'serial' | 'sums'>): void {
    parts = parts.filter(({ since }) => since > record.serial);
    stored = record.sums;
  }

  /** What of it counts already, and whether this life still does. */
  async function findOut(): Promise<void> {
    const entry = await bucket.get(keys.tally(role, life));
    if (entry) {
      const found = decodeLife(entry.value);
      confirm(found);
      if (found.closed) beginAnew();
      else revision = entry.revision;
    } else {
      const counted = await serialInPast();
      if (counted !== undefined) confirm({ serial: counted, sums: NO_TALLY });
      if (counted !== undefined || revision > 0) beginAnew();
    }
    inDoubt = false;
  }

  function beginAnew(): void {
    log.info('tally.continued', { life });
    life = createLife();
    revision = 0;
    stored = NO_TALLY;
  }

  async function serialInPast(): Promise<number | undefined> {
    const entry = await bucket.get(keys.tallyPast);
    return entry && decodePast(entry.value).lives.find(([name]) => name === life)?.[1];
  }
}

function join({ since, sums }: Part, taken: TallySums): Part {
  return { since, sums: addTallies(sums, taken) };
}

function createLife(): string {
  return randomBytes(9).toString('base64url');
}
