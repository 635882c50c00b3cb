/** Compares the cluster's streams, buckets and consumers with their definitions, and makes them so. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure, messageOf } from '../domain/failure.ts';
import { findDrift, type Drift } from '../policy/topology-drift.ts';
import type { Settings, Topology, TopologyFiles } from '../wire/topology.ts';
import type { Connection } from './connect.ts';

export interface TopologyState {
  readonly kind: 'stream' | 'consumer';
  readonly name: string; // a consumer's is `STREAM > consumer`
  readonly state: 'missing' | 'drifted' | 'same';
  readonly drift: readonly Drift[];
}

export interface TopologyChange extends TopologyState {
  readonly action: 'created' | 'updated' | 'kept';
}

const PATIENCE_MS = 15_000;
/** A server that has no JetStream itself may still reach one that has; it needs no election to find out. */
const PATIENCE_WITHOUT_JETSTREAM_MS = 1_000;
const RETRY_MS = 200;
/** No place for all replicas: there are too few servers, or, as the words tell, one that has only just joined. */
const NO_PLACE = 10_005;

export function readTopologyFiles(folder: string): TopologyFiles {
  const settingsIn = (path: string): Settings[] =>
    readdirSync(join(folder, path))
      .sort()
      .map((file) => JSON.parse(readFileSync(join(folder, path, file), 'utf8')) as Settings);
  return {
    streams: [...settingsIn('streams'), ...settingsIn('buckets')],
    consumers: readdirSync(join(folder, 'consumers'))
      .sort()
      .flatMap((stream) => settingsIn(join('consumers', stream)).map((settings) => ({ stream, settings }))),
  };
}

export async function compareTopology(connection: Connection, topology: Topology): Promise<TopologyState[]> {
  const states: TopologyState[] = [];
  for (const item of itemsOf(connection, topology)) states.push(await compareItem(item));
  return states;
}

/**
 * Creates what is missing. What differs is changed too when `onDrift` says `update`; a change that the server
 * refuses (retention, storage) is an error that shows the difference, because only a person can decide to lose data.
 */
export async function applyTopology(
  connection: Connection,
  topology: Topology,
  options: { onDrift: 'update' | 'keep' },
): Promise<TopologyChange[]> {
  const changes: TopologyChange[] = [];
  for (const item of itemsOf(connection, topology)) {
    const state = await compareItem(item);
    changes.push({ ...state, action: await settle(item, state, options.onDrift) });
  }
  return changes;
}

async function settle(
  item: Item,
  state: TopologyState,
  onDrift: 'update' | 'keep',
): Promise<TopologyChange['action']> {
  if (state.state === 'missing') {
    await patiently(item, () => item.create());
    return 'created';
  }
  if (state.state === 'same' || onDrift === 'keep') return 'kept';
  await patiently(item, () => item.update()).catch((error: unknown) => {
    throw new Failure(
      'REJECTED',
      `the server refused to change ${item.kind} ${item.name}: ${messageOf(error)}`,
      {
        cause: error,
        hint: `It differs in: ${state.drift.map(describeDrift).join('; ')}. Edit its file in nats/ to match, or remove it by hand and apply again (its messages are lost).`,
      },
    );
  });
  return 'updated';
}

export function describeDrift({ setting, want, have }: Drift): string {
  const show = (value: unknown): string => (value === undefined ? 'unset' : JSON.stringify(value));
  return `${setting}: want ${show(want)}, have ${show(have)}`;
}

interface Item {
  readonly patienceMs: number;
  readonly kind: 'stream' | 'consumer';
  readonly name: string;
  readonly want: Settings;
  read(): Promise<Settings>;
  create(): Promise<unknown>;
  update(): Promise<unknown>;
}

function* itemsOf({ jsm, nc }: Connection, topology: Topology): Generator<Item> {
  const patienceMs = nc.info?.jetstream ? PATIENCE_MS : PATIENCE_WITHOUT_JETSTREAM_MS;
  for (const { name, settings } of topology.streams) {
    yield {
      patienceMs,
      kind: 'stream',
      name,
      want: settings,
      read: async () => (await jsm.streams.info(name)).config,
      create: () => jsm.streams.add(settings as unknown as Parameters<typeof jsm.streams.add>[0]),
      update: () => jsm.streams.update(name, settings),
    };
  }
  for (const { stream, name, settings } of topology.consumers) {
    yield {
      patienceMs,
      kind: 'consumer',
      name: `${stream} > ${name}`,
      want: settings,
      read: async () => (await jsm.consumers.info(stream, name)).config,
      create: () => jsm.consumers.add(stream, settings),
      update: () => jsm.consumers.update(stream, name, settings),
    };
  }
}

async function compareItem(item: Item): Promise<TopologyState> {
  const { kind, name } = item;
  const have = await patiently(item, () => item.read().catch(absentIfNotFound));
  if (have === undefined) return { kind, name, state: 'missing', drift: [] };
  const drift = findDrift(item.want, have);
  return { kind, name, state: drift.length === 0 ? 'same' : 'drifted', drift };
}

function absentIfNotFound(error: unknown): undefined {
  const kind = error instanceof Error ? error.name : '';
  if (kind === 'StreamNotFoundError' || kind === 'ConsumerNotFoundError') return undefined;
  throw error;
}

/** A cluster that elects its leader answers "no responders" or not at all for some seconds: ask again for a while. */
async function patiently<T>(item: Item, ask: () => Promise<T>): Promise<T> {
  const until = performance.now() + item.patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (performance.now() > until) {
        throw new Failure(
          'UNAVAILABLE',
          `JetStream does not answer for ${item.kind} ${item.name}: ${messageOf(error)}`,
          {
            cause: error,
            hint: 'Is JetStream enabled on the server, and do a majority of its cluster run? `trawl doctor` tells.',
          },
        );
      }
    }
    await delay(RETRY_MS);
  }
}

function isPassing(error: unknown): boolean {
  const kind = error instanceof Error ? error.name : '';
  if (['TimeoutError', 'NoRespondersError', 'RequestError', 'JetStreamNotEnabled'].includes(kind))
    return true;
  if (kind !== 'JetStreamApiError') return false;
  const { status, code, message } = error as Error & { readonly status?: number; readonly code?: number };
  return status === 503 || (code === NO_PLACE && message.includes('offline'));
}
