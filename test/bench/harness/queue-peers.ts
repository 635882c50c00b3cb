/** The work queues of others as contestants: each a process that submits and one that works, and their server. */
import { findPostgres, startPostgres } from '../../kit/postgres.ts';
import type { Teardown } from '../../kit/nats-server.ts';
import { packageVersion } from './versions.ts';
import { hasPackage, startPeer, type Peer } from './peer.ts';
import { findRedis, startRedis } from './redis.ts';
import type { Team } from './rounds.ts';

export interface QueueTeam extends Team {
  readonly name: string;
  readonly safe: string;
  readonly producer: Peer;
  readonly worker: Peer;
}

export interface Rivals {
  readonly teams: readonly QueueTeam[];
  readonly absent: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

const SECOND = 'fsync every second';
const COMMIT = 'fsync before each answer';
/** What PostgreSQL has by default, said aloud. */
export const POSTGRES_SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'shared_buffers=128MB',
  'max_connections=100',
];

/** `concurrency`: handlers at once, where a peer is asked to have as many as we have. */
export async function startRivals(
  t: Teardown,
  wanted: readonly string[],
  { concurrency }: { concurrency?: number } = {},
): Promise<Rivals> {
  const teams: QueueTeam[] = [];
  const absent: string[] = [];
  const versions: Record<string, string> = {};
  const servers = { redis: await openRedis(), postgres: await openPostgres() };
  for (const name of wanted) {
    const onRedis = name === 'bullmq' || name === 'bee-queue';
    const server = onRedis ? servers.redis : servers.postgres;
    if (process.env['PEERS'] === 'no') absent.push(`${name}: left out by PEERS=no`);
    else if (!hasPackage(name)) absent.push(`${name}: its package is not installed in test/bench`);
    else if (!server) absent.push(`${name}: no ${onRedis ? 'Redis' : 'PostgreSQL'} to be had`);
    else {
      versions[name] = packageVersion(name);
      const settings = { ...server.settings, ...(concurrency !== undefined && { concurrency }) };
      const producer = await startPeer(t, `${name}.mjs`, settings);
      const worker = await startPeer(t, `${name}.mjs`, settings);
      teams.push({
        name,
        safe: onRedis ? SECOND : COMMIT,
        producer,
        worker,
        clients: () => [producer.pid, worker.pid],
        servers: () => [server.pid],
      });
    }
  }
  return { teams, absent, versions };

  async function openRedis(): Promise<{ pid: number; settings: object } | undefined> {
    const program = findRedis();
    if (program === undefined) return undefined;
    const { pid, port, version } = await startRedis(t, program);
    versions['redis'] = version;
    return { pid, settings: { port } };
  }

  async function openPostgres(): Promise<{ pid: number; settings: object } | undefined> {
    const programs = process.env['PEERS'] === 'no' ? undefined : findPostgres();
    if (programs === undefined) return undefined;
    const postgres = await startPostgres(t, programs, POSTGRES_SETTINGS);
    const [row] = await postgres.sql<
      { version: string }[]
    >`select current_setting('server_version') as version`;
    versions['postgresql'] = row?.version ?? 'unknown';
    return { pid: postgres.pid(), settings: { url: postgres.url } };
  }
}

/** Throws unless each of `count` jobs was completed, and none is left. */
export async function checkRival(team: QueueTeam, queue: string, count: number): Promise<void> {
  const { done, dead, open } = await team.worker.call<{ done: number; dead: number; open: number }>('check', {
    queue,
    count,
  });
  if (done !== count || dead !== 0 || open !== 0)
    throw new Error(`${team.name}: of ${count} jobs ${done} completed, ${dead} failed, ${open} left`);
}
