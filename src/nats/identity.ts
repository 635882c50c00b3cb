/** An id that this process holds: its beats, and what becomes of them when NATS is away. */
import { parseBeat, type Beat, type BeatPatch } from '../domain/beat.ts';
import { Failure, messageOf } from '../domain/failure.ts';
import { systemClock, type Clock } from '../runtime/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import { isConflict, type Bucket, type Entry } from './bucket.ts';

export interface IdentityOptions {
  readonly deadAfterMs: number; // the record's time limit
  readonly log: Log;
  /** What has changed by itself since the last beat: work in flight, the delay of the event loop. */
  readonly measure?: () => BeatPatch;
  readonly clock?: Pick<Clock, 'after'>;
}

export interface Identity {
  /** The record as it was last sent. */
  beat(): Beat;
  /** Changes the record and sends it now. A beat that fails is counted; the next one carries the change. */
  update(patch: BeatPatch): Promise<void>;
  /** Beats at this interval until the end. */
  start(intervalMs: number): void;
  /** How many beats could not be stored. */
  failures(): number;
  /** When the last beat that was stored was sent (monotonic ms). */
  storedAt(): number;
  /** Aborts when another process has the id: this one must not go on under it. */
  readonly lost: AbortSignal;
  /** Says `stopped`, and beats no more. */
  end(): Promise<void>;
}

export interface Claimed extends IdentityOptions {
  readonly key: string;
  readonly beat: Beat;
  readonly revision: number;
}

export function createIdentity(bucket: Bucket, claimed: Claimed): Identity {
  const { key, deadAfterMs: ttlMs, measure, clock = systemClock } = claimed;
  const log = claimed.log.child({ role: claimed.beat.role, id: claimed.beat.id });
  const lost = new AbortController();
  let { beat, revision } = claimed;
  let storedAt = performance.now();
  let failures = 0;
  let streak = 0;
  let waiting = 0;
  let queue = Promise.resolve();
  let stopBeating = (): void => undefined;
  let ended = false;
  const isLost = (): boolean => lost.signal.aborted;

  return {
    beat: () => beat,
    update: send,
    start(intervalMs) {
      stopBeating();
      const goOn = (): void => {
        stopBeating = clock.after(intervalMs, () => {
          goOn();
          // A beat that is still under way stands for this one.
          if (waiting === 0) void send({});
        });
      };
      goOn();
    },
    failures: () => failures,
    storedAt: () => storedAt,
    lost: lost.signal,
    async end() {
      stopBeating();
      const stopped = send({ status: 'stopped', inFlight: 0 });
      ended = true;
      await stopped;
    },
  };

  /** One after the other, each with the record as it was when it was asked for. */
  function send(patch: BeatPatch): Promise<void> {
    if (ended) return queue;
    beat = { ...beat, ...measure?.(), ...patch, beatAt: Date.now() };
    const record = beat;
    waiting += 1;
    queue = queue.then(() => sendNow(record)).finally(() => (waiting -= 1));
    return queue;
  }

  async function sendNow(record: Beat): Promise<void> {
    if (isLost()) return;
    const sentAt = performance.now();
    try {
      revision = await store(record);
      storedAt = sentAt;
      if (streak > 0) log.info('beat.recovered', { failed: streak });
      streak = 0;
    } catch (error) {
      if (isLost()) return;
      failures += 1;
      streak += 1;
      if (streak === 1) log.warn('beat.failed', { reason: messageOf(error) });
    }
  }

  async function store(record: Beat): Promise<number> {
    const value = encodeJson(record);
    try {
      return await bucket.put(key, value, { ttlMs, expect: revision });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    const entry = await bucket.get(key);
    // Our record expired while we were away, and nobody took the id: it is still ours.
    if (!entry) return await bucket.create(key, value, { ttlMs }).catch(lose);
    // A beat of ours that nobody answered was stored after all.
    const other = nameOther(entry);
    if (!other) return await bucket.put(key, value, { ttlMs, expect: entry.revision }).catch(lose);
    return lose(new Failure('CONFLICT', `the id ${beat.id} was taken by ${other}`));
  }

  /** Undefined when the record is of this very life. */
  function nameOther(entry: Entry): string | undefined {
    try {
      const { host, place, pid, startedAt } = parseBeat(decode(entry.value));
      const isOurs = place === beat.place && pid === beat.pid && startedAt === beat.startedAt;
      return isOurs ? undefined : `a process on host ${host} (pid ${pid})`;
    } catch {
      return 'something that is no heartbeat';
    }
  }

  function lose(error: unknown): never {
    if (isConflict(error)) {
      stopBeating();
      log.error('beat.lost', { reason: messageOf(error) });
      lost.abort(error);
    }
    throw error;
  }
}
