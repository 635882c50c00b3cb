/** How long a worker may keep a task without a word: the lanes on the server say it, the shortest of them counts. */
import { PRIORITIES } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

const NANOS_PER_MS = 1e6;

export async function readLeaseMs({ jsm }: Connection, names: Names): Promise<number> {
  const stream = names.stream('TASKS');
  const lanes = await Promise.all(PRIORITIES.map((lane) => jsm.consumers.info(stream, `p${lane}`)));
  return Math.min(...lanes.map(({ config }) => (config.ack_wait ?? 0) / NANOS_PER_MS));
}
