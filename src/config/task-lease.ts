/** How long a worker may keep a task without a word, as the definition of the queues says it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';

const NS_PER_MS = 1_000_000;

/** The shortest, should they differ. */
export function readTaskLeaseMs(): number {
  const folder = join(projectRoot, 'nats/consumers/TASKS');
  const leases = readdirSync(folder).map((file) => {
    const { ack_wait } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { ack_wait: number };
    return ack_wait / NS_PER_MS;
  });
  return Math.min(...leases);
}
