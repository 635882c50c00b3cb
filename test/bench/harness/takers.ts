/** Those who take lists of URLs in the submit bench: ours, and what people build from Redis and PostgreSQL. */
import { createLedgerReader } from '../../../src/nats/ledger-reader.ts';
import type { Teardown } from '../../kit/nats-server.ts';
import { findPostgres, startPostgres } from '../../kit/postgres.ts';
import { untilTrue } from '../stage.ts';
import { names } from './ledger-check.ts';
import { hasPackage, startPeer } from './peer.ts';
import { POSTGRES_SETTINGS } from './queue-peers.ts';
import { findRedis, startRedis } from './redis.ts';
import type { Team } from './rounds.ts';
import { SYNCS, type SyncName, type TrawlTeam } from './trawl-team.ts';

export const PASSES = ['first', 'again'] as const;
export type Pass = (typeof PASSES)[number];

/** Somebody who takes lists. */
export interface Taker extends Team {
  readonly name: string;
  readonly safe: string;
  /** One URL after the other, an answer for each: takes shorter lists than those who take chunks. */
  readonly oneByOne: boolean;
  /** Throws unless all are new the first time, and none the second. */
  submit(list: string, pass: Pass, count: number): Promise<void>;
  clear(list: string): Promise<void>;
}

export function ownTaker(name: string, { stage, user, clients, servers }: TrawlTeam, sync: SyncName): Taker {
  const { connection } = stage;
  const reader = createLedgerReader(connection, names);
  const sizeOf = async (stream: 'INTAKE' | 'TASKS'): Promise<number> =>
    (await connection.jsm.streams.info(names.stream(stream))).state.messages;
  return {
    ...{ name, safe: SYNCS[sync].safe, oneByOne: false, clients, servers },
    async submit(list, pass, count) {
      // One run of a scraper is active at a time, so each list has a scraper of its own.
      const queuedBefore = await sizeOf('TASKS');
      await user.call('produce', { scraper: list, run: list, count });
      await untilTrue(async () => {
        const { accepted, duplicates } = await reader.counts(list);
        return (pass === 'first' ? accepted : duplicates) >= count;
      });
      await untilTrue(async () => (await sizeOf('INTAKE')) === 0);
      const { accepted, duplicates } = await reader.counts(list);
      const queued = (await sizeOf('TASKS')) - queuedBefore;
      const isFirst = pass === 'first';
      if (accepted !== count || duplicates !== (isFirst ? 0 : count) || queued !== (isFirst ? count : 0))
        throw new Error(`${name}, ${pass}: ${accepted} accepted, ${duplicates} duplicates, ${queued} queued`);
    },
    /** The bench's own broom, so that every round finds the same. */
    async clear(list) {
      await connection.jsm.streams.purge(names.stream('TASKS'), { filter: `trawl.task.*.*.${list}.*` });
      await connection.jsm.streams.purge(names.stream('LEDGER'), { filter: names.ledger(list, '*') });
    },
  };
}

export async function startOtherTakers(
  t: Teardown,
  versions: Record<string, string>,
  absent: string[],
): Promise<Taker[]> {
  const takers: Taker[] = [];
  const redis = hasPackage('ioredis') ? findRedis() : undefined;
  if (redis === undefined) absent.push('Redis: no server or no client to be had');
  else {
    const { port, pid, version } = await startRedis(t, redis);
    versions['redis'] = version;
    const safe = SYNCS.second.safe;
    const way = { safe, settings: { port }, pid };
    takers.push(
      await other(t, { ...way, name: 'scrapy-redis way', module: 'redis-each.mjs', oneByOne: true }),
      await other(t, { ...way, name: 'Redis script', module: 'redis-push.mjs' }),
    );
  }
  const programs = hasPackage('pg') ? findPostgres() : undefined;
  if (programs === undefined) absent.push('PostgreSQL: no server or no client to be had');
  else {
    const postgres = await startPostgres(t, programs, POSTGRES_SETTINGS);
    const safe = SYNCS.always.safe;
    const settings = { url: postgres.url };
    const pid = postgres.pid();
    takers.push(
      await other(t, {
        name: 'PostgreSQL insert',
        safe,
        module: 'postgres-insert.mjs',
        settings,
        pid,
      }),
    );
  }
  return takers;
}

async function other(
  t: Teardown,
  {
    name,
    safe,
    module,
    settings,
    pid,
    oneByOne = false,
  }: { name: string; safe: string; module: string; settings: object; pid: number; oneByOne?: boolean },
): Promise<Taker> {
  const peer = await startPeer(t, module, settings);
  return {
    name,
    safe,
    oneByOne,
    clients: () => [peer.pid],
    servers: () => [pid],
    async submit(list, pass, count) {
      const { added, queued } = await peer.call<{ added: number; queued: number }>('submit', { list, count });
      if (added !== (pass === 'first' ? count : 0) || queued !== count)
        throw new Error(`${name}, ${pass}: ${added} added, ${queued} queued`);
    },
    clear: (list) => peer.call('clear', { list }),
  };
}
