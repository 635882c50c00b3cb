/** What there is of sinks: their records, how far behind each is, and who runs it. */
import { randomBytes } from 'node:crypto';
import { JetStreamApiError } from '@nats-io/jetstream';
import { Failure } from '../domain/failure.ts';
import type { SinkRecord } from '../domain/sink.ts';
import { keys, type Names } from '../wire/names.ts';
import { encodeJson, decode } from '../wire/codec.ts';
import { decodeSink } from '../wire/sink-record.ts';
import type { Bucket } from './bucket.ts';
import type { Connection } from './connect.ts';
import { readHolder, withLock } from './lock.ts';
import { consumerOf, removeConsumer } from './sink-tail.ts';

export interface SinkView extends SinkRecord {
  /** Records of the ledger that are not delivered yet; unknown while it has never read any. */
  readonly lag?: number | undefined;
  /** The id of the actor that leads. */
  readonly runner?: string | undefined;
}

export interface SinkPlace {
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly names: Names;
}

const LOCK_MS = 10_000;
const MARKER_MS = 60_000;

export function sinkLock(name: string): string {
  return `sink-${name}`;
}

export async function listSinks(place: SinkPlace): Promise<SinkView[]> {
  const entries = await place.bucket.list(keys.allSinks);
  const views = await Promise.all(entries.map(({ value }) => describe(place, decodeSink(value))));
  return views.sort((a, b) => a.name.localeCompare(b.name));
}

export async function readSink(place: SinkPlace, name: string): Promise<SinkView> {
  const entry = await place.bucket.get(keys.sink(name));
  if (!entry) throw unknownSink(name);
  return describe(place, decodeSink(entry.value));
}

async function describe(place: SinkPlace, record: SinkRecord): Promise<SinkView> {
  const [lag, holder] = await Promise.all([
    readLag(place, record.name),
    readHolder(place.bucket, sinkLock(record.name)),
  ]);
  return { ...record, lag, runner: holder?.owner };
}

async function readLag({ connection, names }: SinkPlace, name: string): Promise<number | undefined> {
  try {
    const info = await connection.jsm.consumers.info(names.stream('LEDGER'), consumerOf(name));
    return info.num_pending + info.num_ack_pending;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Forgets its position; what it delivered stays where it is. CONFLICT while it runs. */
export async function removeSink({ connection, bucket, names }: SinkPlace, name: string): Promise<void> {
  if (!(await bucket.get(keys.sink(name)))) throw unknownSink(name);
  await withLock(bucket, sinkLock(name), { ttlMs: LOCK_MS, owner: 'trawl sinks rm' }, async () => {
    await removeConsumer(connection, names.stream('LEDGER'), consumerOf(name));
    for (const key of [keys.sinkReplay(name), keys.sink(name)]) {
      const entry = await bucket.get(key);
      if (entry) await bucket.purge(key, { expect: entry.revision, markerTtlMs: MARKER_MS });
    }
  });
}

/** Wishes that it starts over: at once if it runs, otherwise when it does. */
export async function replaySink({ bucket }: SinkPlace, name: string): Promise<string> {
  if (!(await bucket.get(keys.sink(name)))) throw unknownSink(name);
  const token = randomBytes(6).toString('hex');
  await bucket.put(keys.sinkReplay(name), encodeJson({ token }));
  return token;
}

export function readReplay(value: Uint8Array): string | undefined {
  const { token } = decode(value) as { token?: unknown };
  return typeof token === 'string' && /^[\da-f]{1,32}$/.test(token) ? token : undefined;
}

function unknownSink(name: string): Failure {
  return new Failure('INVALID', `there is no sink ${name}`, { hint: '`trawl sinks ls` lists them.' });
}
