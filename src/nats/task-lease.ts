/** How long a worker may keep a task without a word: the definition of the lanes says it. */
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

const NANOS_PER_MS = 1e6;

export async function readLeaseMs({ jsm }: Connection, names: Names): Promise<number> {
  const { config } = await jsm.consumers.info(names.stream('TASKS'), 'p0');
  return (config.ack_wait ?? 0) / NANOS_PER_MS;
}
