/** Where a task without an outcome is: in a worker's hand, waiting for its time, or waiting for a worker. */
import { scrapersOf } from '../domain/beat.ts';
import type { TaskSpec } from '../domain/task.ts';
import type { Whereabouts } from '../policy/explain-task.ts';
import type { Log } from '../telemetry/log.ts';
import { decode } from '../wire/codec.ts';
import { laneName } from '../wire/lanes.ts';
import { keys, type Names } from '../wire/names.ts';
import { listBeats } from './beats.ts';
import type { Bucket } from './bucket.ts';
import type { Connection } from './connect.ts';
import type { PauseWatch } from './pauses.ts';

interface Hand {
  readonly run: string;
  readonly id: string;
  readonly since: number;
  readonly attempt: number;
}

export interface LocateOptions {
  readonly names: Names;
  readonly bucket: Bucket;
  readonly pauses: PauseWatch;
  readonly log: Log;
}

export async function locateTask(
  connection: Connection,
  { names, bucket, pauses, log }: LocateOptions,
  spec: TaskSpec,
): Promise<Whereabouts> {
  const [hand, delayedUntil, parked, lane, beats] = await Promise.all([
    findHand(bucket, spec),
    findDelay(connection, names, spec),
    isParked(connection, names, spec),
    findLane(connection, names, spec),
    listBeats(bucket, log),
  ]);
  const pausedBy = pauses.all() ?? pauses.of(spec);
  return {
    ...(hand && { hand }),
    ...(delayedUntil !== undefined && { delayedUntil }),
    ...(parked && { parked }),
    ...(lane && { lane }),
    ...(pausedBy !== undefined && { pausedBy }),
    ...(!beats.some((beat) => scrapersOf(beat)?.includes(spec.scraper)) && { unowned: true }),
  };
}

async function findHand(bucket: Bucket, { run, id }: TaskSpec): Promise<Whereabouts['hand']> {
  for (const { key, value } of await bucket.list(keys.allInHand)) {
    const hand = (decode(value) as Hand[]).find((held) => held.run === run && held.id === id);
    if (hand) return { worker: key.split('.')[1] ?? '', since: hand.since, attempt: hand.attempt };
  }
  return undefined;
}

async function findDelay({ jsm }: Connection, names: Names, spec: TaskSpec): Promise<number | undefined> {
  const message = await jsm.streams.getMessage(names.stream('TASKS'), { last_by_subj: names.delay(spec) });
  const schedule = message?.header.get('Nats-Schedule') ?? '';
  return schedule.startsWith('@at ') ? Date.parse(schedule.slice('@at '.length)) : undefined;
}

async function isParked({ jsm }: Connection, names: Names, spec: TaskSpec): Promise<boolean> {
  const place = { last_by_subj: names.parked(spec) };
  return (await jsm.streams.getMessage(names.stream('TASKS'), place)) !== null;
}

/** It is in one of two places; how many wait in that one. */
async function findLane({ jsm }: Connection, names: Names, spec: TaskSpec): Promise<Whereabouts['lane']> {
  const stream = names.stream('TASKS');
  const { priority, scraper } = spec;
  const places = [
    { subject: names.task(spec), lane: laneName({ priority }) },
    { subject: names.only(spec), lane: laneName({ priority, scraper }) },
  ];
  for (const { subject, lane } of places) {
    if (!(await jsm.streams.getMessage(stream, { last_by_subj: subject }))) continue;
    // Lanes of one scraper come and go.
    const info = await jsm.consumers.info(stream, lane).catch(() => undefined);
    return { priority, waiting: Math.max(1, info?.num_pending ?? 1) };
  }
  return undefined;
}
