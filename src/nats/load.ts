/**
 * How many tasks are in hand and how many wait for their time: from what the server knows without a scan, from the
 * workers, and, as long as few enough wait, from the subjects of those.
 */
import type { LoadFacts } from '../policy/run-load.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { askInHand } from './in-hand-survey.ts';
import { listLanes } from './lanes.ts';

/** The server lists their subjects one by one, which takes about a millisecond per thousand. */
const COUNTED_MAX = 10_000;

export async function readLoad(
  connection: Connection,
  names: Names,
  { run, workers }: { run?: string | undefined; workers: Promise<number> },
): Promise<LoadFacts> {
  const [cluster, inHand, alive] = await Promise.all([
    readCluster(connection, names),
    askInHand(connection, names, { run, expected: workers }),
    workers,
  ]);
  const deferred =
    cluster.deferred > COUNTED_MAX ? undefined : await countDeferred(connection, names, run ?? '*');
  return { cluster, inHand, workers: alive, deferred };
}

async function readCluster(connection: Connection, names: Names): Promise<LoadFacts['cluster']> {
  const [{ state }, lanes] = await Promise.all([
    connection.jsm.streams.info(names.stream('TASKS')),
    listLanes(connection, names),
  ]);
  const running = lanes.reduce((sum, { info }) => sum + info.num_ack_pending, 0);
  const ready = lanes.reduce((sum, { info }) => sum + info.num_pending, 0);
  // What no lane knows is a schedule.
  return { running, deferred: Math.max(0, state.messages - ready - running) };
}

async function countDeferred(
  { jsm }: Connection,
  names: Names,
  run: string,
): Promise<ReadonlyMap<string, number>> {
  const filters = [names.delay({ run, id: '*' }), names.parked({ run, id: '*' })];
  const found = await Promise.all(
    filters.map((subjects_filter) => jsm.streams.info(names.stream('TASKS'), { subjects_filter })),
  );
  const counts = new Map<string, number>();
  for (const subject of found.flatMap(({ state }) => Object.keys(state.subjects ?? {}))) {
    const name = subject.split('.').at(-2) ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
