/** The queue of tasks as the server knows it: by priority, without looking at a task, however many there are. */
import type { ConsumerInfo } from '@nats-io/jetstream';
import { PRIORITIES } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';
import { listLanes } from './lanes.ts';

export interface QueueFacts {
  readonly lanes: { priority: number; ready: number; running: number }[];
  readonly ready: number;
  readonly running: number;
  /** Messages in all: also those that wait for their time. */
  readonly stored: number;
  /** When the task became ready that waits for longest (epoch ms, by the server's clock). */
  readonly oldestReadyAt?: number | undefined;
}

const LIMIT_MS = 2_000;

export async function readQueue(connection: Connection, names: Names): Promise<QueueFacts> {
  const stream = names.stream('TASKS');
  const [{ state }, found] = await Promise.all([
    connection.jsm.streams.info(stream),
    listLanes(connection, names),
  ]);
  const lanes = PRIORITIES.map((priority) => {
    const infos = found.filter((lane) => lane.priority === priority).map(({ info }) => info);
    return {
      priority,
      ready: infos.reduce((sum, { num_pending }) => sum + num_pending, 0),
      running: infos.reduce((sum, { num_ack_pending }) => sum + num_ack_pending, 0),
    };
  });
  const waiting = found.map(({ info }) => info).filter(({ num_pending }) => num_pending > 0);
  return {
    lanes,
    ready: lanes.reduce((sum, { ready }) => sum + ready, 0),
    running: lanes.reduce((sum, { running }) => sum + running, 0),
    stored: state.messages,
    oldestReadyAt: await findOldest(connection, { stream, firstSeq: state.first_seq, waiting }),
  };
}

/**
 * What a lane delivers next is the first of its subjects behind what it has delivered. Asked for a place within the
 * stream the server finds that in its index; asked from the very first message on it counts all subjects that fit,
 * which takes longer the more there are. So the first message is asked for by its sequence, and the rest from behind it.
 */
async function findOldest(
  connection: Connection,
  {
    stream,
    firstSeq,
    waiting,
  }: { stream: string; firstSeq: number; waiting: readonly Pick<ConsumerInfo, 'config' | 'delivered'>[] },
): Promise<number | undefined> {
  if (waiting.length === 0) return undefined;
  const first = await readMessage(connection, stream, { seq: firstSeq });
  const isNext = ({ config, delivered }: (typeof waiting)[number]): boolean =>
    delivered.stream_seq < firstSeq && fits(config.filter_subject ?? '', first?.subject ?? '');
  // Nothing is older than the first message of all.
  if (first && waiting.some(isNext)) return first.at;
  const found = await Promise.all(
    waiting.map(({ config, delivered }) =>
      readMessage(connection, stream, {
        seq: Math.max(delivered.stream_seq, firstSeq) + 1,
        next_by_subj: config.filter_subject,
      }),
    ),
  );
  const times = found.flatMap((message) => message?.at ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The filter of a lane is fixed up to its priority, or its scraper, and open behind it. */
function fits(filter: string, subject: string): boolean {
  return subject.startsWith(filter.replace(/[*>].*$/, ''));
}

async function readMessage(
  connection: Connection,
  stream: string,
  query: { readonly seq: number; readonly next_by_subj?: string | undefined },
): Promise<{ readonly subject: string; readonly at: number } | undefined> {
  const answer = await ask(connection, {
    subject: `$JS.API.DIRECT.GET.${stream}`,
    payload: new TextEncoder().encode(JSON.stringify(query)),
    limitMs: LIMIT_MS,
  });
  const headers = answer.kind === 'reply' ? answer.message.headers : undefined;
  // It may just have been delivered: then there is nothing, and no time.
  const at = Date.parse(headers?.get('Nats-Time-Stamp') ?? '');
  return Number.isNaN(at) ? undefined : { subject: headers?.get('Nats-Subject') ?? '', at };
}
