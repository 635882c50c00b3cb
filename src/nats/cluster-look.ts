/** One look at the whole cluster: what its streams, its leaders and its workers say of themselves now. */
import * as v from 'valibot';
import type { StreamFacts } from '../domain/cluster-facts.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import type { Named } from '../domain/tally.ts';
import { decode } from '../wire/codec.ts';
import { BUCKETS, keys, STREAMS, type Names } from '../wire/names.ts';
import { ask } from './ask.ts';
import { openBucket, type Bucket } from './bucket.ts';
import type { Connection } from './connect.ts';
import { askWorkers, type WorkerLoad } from './load-survey.ts';
import { readHolder } from './lock.ts';
import { readQueue, type QueueFacts } from './queue-facts.ts';

export interface ClusterLook {
  readonly queue: QueueFacts;
  readonly streams: readonly StreamFacts[];
  readonly leaders: readonly { readonly lead: string; readonly actor: string }[];
  /** Undefined: no proxy-manager leads. */
  readonly egress: Snapshot['egress'] | undefined;
  readonly scale: Scale | undefined;
  /** By worker; who did not answer in time is not in it. */
  readonly loads: ReadonlyMap<string, WorkerLoad>;
}

export interface LookOptions {
  readonly connection: Connection;
  readonly names: Names;
  readonly bucket: Bucket;
}

const LEADS = ['coordinator', 'housekeeper', 'autoscaler'] as const;
const EGRESS_LEAD = 'proxy-manager';
const EGRESS_LIMIT_MS = 250;
const WORKERS_LIMIT_MS = 30;

const amount = v.pipe(v.number(), v.minValue(0));
const byState = v.record(v.string(), amount);
const gauges = v.object({
  proxiesByState: byState,
  sessionsByState: byState,
  leases: amount,
  hosts: amount,
  hostsClosed: amount,
});
const scale = v.object({ desired: amount, decisions: v.optional(v.record(v.string(), amount)) });

export interface Scale {
  readonly desired: number;
  readonly decisions?: Named | undefined;
}

/** Rejects when one of the streams does not answer; people and actors that do not are only missing. */
export function createClusterLook({
  connection,
  names,
  bucket,
}: LookOptions): (workers: readonly string[]) => Promise<ClusterLook> {
  const egressBucket = openBucket(connection, names.bucket('egress'));
  return async (workers) => {
    const [queue, streams, leaders, egress, wish, loads] = await Promise.all([
      readQueue(connection, names),
      readStreams(),
      readLeaders(),
      readEgress(),
      readScale(),
      askWorkers(connection, names, { workers, limitMs: WORKERS_LIMIT_MS }),
    ]);
    return { queue, streams, leaders, egress, scale: wish, loads };
  };

  async function readStreams(): Promise<StreamFacts[]> {
    const wanted = [
      ...STREAMS.map((stream) => ({ stream, name: names.stream(stream) })),
      ...BUCKETS.map((each) => ({ stream: `KV_${each}`, name: `KV_${names.bucket(each)}` })),
    ];
    return Promise.all(
      wanted.map(async ({ stream, name }) => {
        const { state, config } = await connection.jsm.streams.info(name);
        const limitBytes = config.max_bytes > 0 ? config.max_bytes : undefined;
        return { stream, bytes: state.bytes, messages: state.messages, limitBytes };
      }),
    );
  }

  async function readLeaders(): Promise<ClusterLook['leaders']> {
    const places = [
      ...LEADS.map((lead) => ({ lead, from: bucket })),
      { lead: EGRESS_LEAD, from: egressBucket },
    ];
    const holders = await Promise.all(
      places.map(async ({ lead, from }) => ({ lead, holder: await readHolder(from, lead) })),
    );
    return holders.flatMap(({ lead, holder }) => (holder ? [{ lead, actor: holder.owner }] : []));
  }

  async function readEgress(): Promise<Snapshot['egress'] | undefined> {
    const answer = await ask(connection, {
      subject: names.egress('gauges'),
      payload: new Uint8Array(),
      limitMs: EGRESS_LIMIT_MS,
    });
    const told = answer.kind === 'reply' ? v.safeParse(gauges, decode(answer.message.data)) : undefined;
    if (!told?.success) return undefined;
    const { proxiesByState: proxies, sessionsByState: sessions, ...rest } = told.output;
    return { proxies, sessions, ...rest };
  }

  async function readScale(): Promise<Scale | undefined> {
    const entry = await bucket.get(keys.scale);
    const told = entry && v.safeParse(scale, decode(entry.value));
    return told?.success ? told.output : undefined;
  }
}
