/** The least that a program on NATS has to do for a task: take it, store an outcome, acknowledge. No retries, no slots, no counters. */
import { join } from 'node:path';
import type { Teardown } from '../../kit/nats-server.ts';
import { startNatsServer } from '../../kit/nats-server.ts';
import { startPeer } from './peer.ts';
import { measureTeam, type Sample } from './rounds.ts';

export async function startBareLoop(t: Teardown): Promise<{ run: (count: number) => Promise<Sample> }> {
  const server = await startNatsServer(t, { sync: 'second' });
  const loop = await startPeer(t, join(import.meta.dirname, 'bare-loop-process.js'), { nats: server.url });
  const team = { clients: () => [loop.pid], servers: () => [server.pid()] };
  return {
    async run(count) {
      await loop.call('fill', { count });
      return measureTeam(team, async () => {
        const { ms } = await loop.call<{ ms: number }>('work', { count });
        return { count, ms };
      });
    },
  };
}
