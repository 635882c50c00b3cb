/** The lanes that there are on the server, and how full they are. Those of one scraper come and go. */
import type { ConsumerInfo } from '@nats-io/jetstream';
import { Failure } from '../domain/failure.ts';
import { PRIORITIES } from '../domain/task.ts';
import { encodeJson } from '../wire/codec.ts';
import { laneFilter, laneName, parseLaneName, type Lane } from '../wire/lanes.ts';
import type { Names } from '../wire/names.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';

export interface LaneState extends Lane {
  readonly name: string;
  readonly filter: string;
  readonly info: ConsumerInfo;
}

const LIMIT_MS = 5_000;

export async function listLanes(connection: Connection, names: Names): Promise<LaneState[]> {
  const own = await listOwnLanes(connection, names);
  const shared = PRIORITIES.map((priority): Lane => ({ priority }));
  const states = [...shared, ...own].map(async (lane) => {
    const info = await connection.jsm.consumers
      .info(names.stream('TASKS'), laneName(lane))
      .catch((error: unknown) => {
        if (lane.scraper !== undefined && isGone(error)) return undefined;
        throw error;
      });
    return info ? [{ ...lane, name: laneName(lane), filter: laneFilter(names, lane), info }] : [];
  });
  return (await Promise.all(states)).flat();
}

/** By their names alone, which whoever leads the servers has at hand. */
export async function listOwnLanes(connection: Connection, names: Names): Promise<Required<Lane>[]> {
  const found: Required<Lane>[] = [];
  for (let offset = 0; ;) {
    const { consumers, total } = await readNames(connection, names.stream('TASKS'), offset);
    for (const lane of consumers.map(parseLaneName))
      if (lane?.scraper !== undefined) found.push({ priority: lane.priority, scraper: lane.scraper });
    offset += consumers.length;
    if (consumers.length === 0 || offset >= total) return found;
  }
}

async function readNames(
  connection: Connection,
  stream: string,
  offset: number,
): Promise<{ readonly consumers: readonly string[]; readonly total: number }> {
  const answer = await ask(connection, {
    subject: `$JS.API.CONSUMER.NAMES.${stream}`,
    payload: encodeJson({ offset }),
    limitMs: LIMIT_MS,
  });
  if (answer.kind !== 'reply') throw new Failure('UNAVAILABLE', `stream ${stream} does not answer`);
  const reply = answer.message.json<{
    readonly error?: { readonly description: string };
    readonly consumers?: readonly string[] | null;
    readonly total?: number;
  }>();
  if (reply.error)
    throw new Failure('UNAVAILABLE', `stream ${stream} cannot be read: ${reply.error.description}`);
  return { consumers: reply.consumers ?? [], total: reply.total ?? 0 };
}

export function isGone(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConsumerNotFoundError';
}
