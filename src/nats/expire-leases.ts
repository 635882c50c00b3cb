/**
 * Takes back what a process that is certainly dead had in hand, without waiting for its leases. Only for a server that
 * nobody else uses: the leases of the living would end as well. How often each message was delivered stays known, so
 * a task that kills its process is still found out.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Names, StreamName } from '../wire/names.ts';
import type { Connection } from './connect.ts';

const STREAMS: readonly StreamName[] = ['INTAKE', 'TASKS', 'SCHEDULES'];
const AT_ONCE_NS = 1_000_000;
/** The server looks for leases that are over 100 ms after their length was changed, and sends no event when it has. */
const LOOK_MS = 400;

/** How many deliveries were in somebody's hand. */
export async function expireLeases({ jsm }: Connection, names: Names): Promise<number> {
  const held: { stream: string; name: string; leaseNs: number; count: number }[] = [];
  for (const stream of STREAMS.map((each) => names.stream(each)))
    for await (const { name, num_ack_pending: count, config } of jsm.consumers.list(stream))
      if (count > 0 && config.ack_wait !== undefined)
        held.push({ stream, name, leaseNs: config.ack_wait, count });
  if (held.length === 0) return 0;
  for (const { stream, name } of held) await jsm.consumers.update(stream, name, { ack_wait: AT_ONCE_NS });
  await delay(LOOK_MS);
  for (const { stream, name, leaseNs } of held)
    await jsm.consumers.update(stream, name, { ack_wait: leaseNs });
  return held.reduce((sum, { count }) => sum + count, 0);
}
