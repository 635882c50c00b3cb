/** Makes and removes the lanes of single scrapers. Only a coordinator does this. */
import type { ConsumerConfig } from '@nats-io/jetstream';
import { PRIORITIES } from '../domain/task.ts';
import { laneFilter, laneName, placeFilter, type Lane } from '../wire/lanes.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { hasMessage } from './has-message.ts';
import { isGone, listLanes } from './lanes.ts';

export interface OwnLanes {
  /** Whether the stream of the tasks has a place for them: one that an older version made has not. */
  isPossible(): Promise<boolean>;
  /** Makes those that are missing, for all of these, and keeps their leases as those of the shared ones. */
  open(scrapers: readonly string[]): Promise<void>;
  /** Whether nothing waits or is in hand there. */
  isEmpty(scraper: string): Promise<boolean>;
  close(scraper: string): Promise<void>;
  /** Whether tasks of this scraper lie in its own lanes, or in the shared ones, ready or in hand. */
  hasTasks(scraper: string, place: 'own' | 'shared'): Promise<boolean>;
}

export function createOwnLanes(connection: Connection, names: Names): OwnLanes {
  const { jsm } = connection;
  const stream = names.stream('TASKS');
  const lanesOf = (scraper: string): Required<Lane>[] =>
    PRIORITIES.map((priority) => ({ priority, scraper }));

  return { isPossible, open, isEmpty, close, hasTasks };

  async function isPossible(): Promise<boolean> {
    const place = names.only({ priority: NaN, scraper: '*', run: '*', id: '*' }).replace('NaN', '*');
    return (await jsm.streams.info(stream)).config.subjects.includes(place);
  }

  async function open(scrapers: readonly string[]): Promise<void> {
    if (scrapers.length === 0) return;
    const there = await listLanes(connection, names);
    for (const lane of scrapers.flatMap(lanesOf)) {
      const like = there.find(({ name }) => name === laneName({ priority: lane.priority }))?.info.config;
      const have = there.find(({ name }) => name === laneName(lane))?.info.config;
      if (!like) continue;
      if (!have) await create(lane, like);
      // Somebody has made the leases longer, or shorter.
      else if (have.ack_wait !== like.ack_wait)
        await jsm.consumers.update(stream, laneName(lane), { ack_wait: like.ack_wait ?? 0 });
    }
  }

  async function create(lane: Required<Lane>, like: ConsumerConfig): Promise<void> {
    await jsm.consumers.add(stream, {
      ...like,
      name: laneName(lane),
      durable_name: laneName(lane),
      metadata: {},
      description: `Ready tasks of ${lane.scraper}, priority ${lane.priority}`,
      filter_subject: laneFilter(names, lane),
    });
  }

  async function isEmpty(scraper: string): Promise<boolean> {
    const empty = lanesOf(scraper).map(async (lane) => {
      const info = await jsm.consumers.info(stream, laneName(lane)).catch(absent);
      return !info || info.num_pending + info.num_ack_pending === 0;
    });
    return (await Promise.all(empty)).every(Boolean);
  }

  async function close(scraper: string): Promise<void> {
    for (const lane of lanesOf(scraper)) await jsm.consumers.delete(stream, laneName(lane)).catch(absent);
  }

  async function hasTasks(scraper: string, place: 'own' | 'shared'): Promise<boolean> {
    const filter = placeFilter(names, place === 'own' ? 'only' : 'task', scraper);
    return hasMessage(connection, { stream, subject: filter });
  }
}

function absent(error: unknown): undefined {
  if (isGone(error)) return undefined;
  throw error;
}
