/** The queue of tasks as the server knows it: by priority, without looking at a task, however many there are. */
import type { ConsumerInfo } from '@nats-io/jetstream';
import { PRIORITIES } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';

export interface QueueFacts {
  readonly lanes: { priority: number; ready: number; running: number }[];
  readonly ready: number;
  readonly running: number;
  /** When the task became ready that waits for longest (epoch ms, by the server's clock). */
  readonly oldestReadyAt?: number | undefined;
}

const LIMIT_MS = 2_000;

export async function readQueue(connection: Connection, names: Names): Promise<QueueFacts> {
  const stream = names.stream('TASKS');
  const infos = await Promise.all(
    PRIORITIES.map((priority) => connection.jsm.consumers.info(stream, `p${priority}`)),
  );
  const lanes = PRIORITIES.map((priority, index) => ({
    priority,
    ready: infos[index]?.num_pending ?? 0,
    running: infos[index]?.num_ack_pending ?? 0,
  }));
  const waiting = infos.filter(({ num_pending }) => num_pending > 0);
  const times = await Promise.all(waiting.map((info) => readFirst(connection, stream, info)));
  const oldest = Math.min(...times.flatMap((time) => time ?? []));
  return {
    lanes,
    ready: lanes.reduce((sum, { ready }) => sum + ready, 0),
    running: lanes.reduce((sum, { running }) => sum + running, 0),
    oldestReadyAt: Number.isFinite(oldest) ? oldest : undefined,
  };
}

/** What a lane delivers next is the first of its subjects behind what it has delivered. */
async function readFirst(
  connection: Connection,
  stream: string,
  { config, delivered }: ConsumerInfo,
): Promise<number | undefined> {
  const query = { seq: delivered.stream_seq + 1, next_by_subj: config.filter_subject };
  const answer = await ask(connection, {
    subject: `$JS.API.DIRECT.GET.${stream}`,
    payload: new TextEncoder().encode(JSON.stringify(query)),
    limitMs: LIMIT_MS,
  });
  if (answer.kind !== 'reply') return undefined;
  // It may just have been delivered: then there is nothing, and no time.
  const time = Date.parse(answer.message.headers?.get('Nats-Time-Stamp') ?? '');
  return Number.isNaN(time) ? undefined : time;
}
