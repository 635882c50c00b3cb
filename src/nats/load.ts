/** How many tasks are in hand and how many wait for their time, from what the server knows without a scan. */
import { PRIORITIES } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

export interface Load {
  readonly running: number;
  readonly deferred: number;
}

export async function readLoad({ jsm }: Connection, names: Names): Promise<Load> {
  const stream = names.stream('TASKS');
  const [{ state }, ...lanes] = await Promise.all([
    jsm.streams.info(stream),
    ...PRIORITIES.map((priority) => jsm.consumers.info(stream, `p${priority}`)),
  ]);
  const running = lanes.reduce((sum, { num_ack_pending }) => sum + num_ack_pending, 0);
  const ready = lanes.reduce((sum, { num_pending }) => sum + num_pending, 0);
  // What no lane knows is a schedule.
  return { running, deferred: Math.max(0, state.messages - ready - running) };
}
