/** Trawl as a contestant: a server, a coordinator, workers, and the process of a user who submits. */
import { join } from 'node:path';
import { askActor } from '../../../src/nats/mailbox.ts';
import { createServices } from '../../../src/nats/services-client.ts';
import type { Teardown } from '../../kit/nats-server.ts';
import { openStage, untilTrue, type Stage, type StageOptions } from '../stage.ts';
import { names } from './ledger-check.ts';
import { startPeer, type Peer } from './peer.ts';
import type { Team } from './rounds.ts';

export interface TrawlTeam extends Team {
  readonly stage: Stage;
  readonly user: Peer;
  readonly services: ReturnType<typeof createServices>;
  /** Lets a worker take nothing more, or go on. */
  readonly tellWorker: (verb: 'pause' | 'resume', number?: number) => Promise<unknown>;
}

export interface TrawlOptions extends StageOptions {
  readonly workers?: number;
  readonly withManager?: boolean;
  /** Puts scrapers into the folder before anybody looks. */
  readonly prepare?: (stage: Stage) => void;
}

/** What the bench calls it, and what that means. */
export const SYNCS = {
  always: { sync: 'always', durability: 'always', safe: 'fsync before each answer' },
  second: { sync: 'second', durability: 'interval', safe: 'fsync every second' },
} as const;
export type SyncName = keyof typeof SYNCS;

const WORKER = { names, role: 'worker', timeoutMs: 10_000 } as const;

export async function startTrawl(
  t: Teardown,
  name: SyncName,
  { workers = 1, withManager = false, prepare, settings }: TrawlOptions = {},
): Promise<TrawlTeam> {
  const { sync, durability } = SYNCS[name];
  const own = durability === 'always' ? {} : { TRAWL_DURABILITY: durability };
  const stage = await openStage(t, { sync, settings: { ...own, ...settings } });
  prepare?.(stage);
  stage.startActor('coordinator');
  if (withManager) stage.startActor('proxy-manager');
  for (let each = 1; each <= workers; each += 1) stage.startActor('worker', { id: `bench-worker-${each}` });
  const user = await startPeer(t, join(import.meta.dirname, 'trawl-client.js'), {
    nats: stage.server.url,
    durability,
  });
  const services = createServices(stage.connection, names);
  const tellWorker: TrawlTeam['tellWorker'] = (verb, number = 1) =>
    askActor(stage.connection, { ...WORKER, id: `bench-worker-${number}`, verb });
  await untilAnswered(() => services.call('stats', {}));
  for (let each = 1; each <= workers; each += 1) await untilAnswered(() => tellWorker('resume', each));
  return {
    stage,
    user,
    services,
    tellWorker,
    clients: () => [user.pid, ...stage.pids()],
    servers: () => [stage.server.pid()],
  };
}

async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  await untilTrue(() =>
    ask().then(
      () => true,
      () => false,
    ),
  );
}
