/**
 * A connection on which tasks come late. The server speaks of a delivery once it has decided on it, and on a busy
 * machine its word about it may be here before the task is: here it always is. So a test that wants to know what a
 * worker holds must count what came.
 */
import type { Priority } from '../../src/domain/task.ts';
import type { Connection } from '../../src/nats/connect.ts';

type Subscribe = Connection['nc']['subscribe'];

export interface LateDeliveries {
  readonly connection: Connection;
  /** How many tasks of the lane have come. */
  came(lane: Priority): number;
  /** Resolves when it is so; looks again whenever a task has come. */
  until(isSo: () => boolean): Promise<void>;
}

const LATE_MS = 3;
const LANE = /^\$JS\.ACK\.TASKS\.p(\d)(?:-[^.]+)?\./;

export function deliverLate(connection: Connection): LateDeliveries {
  const { nc } = connection;
  const counts = new Map<number, number>();
  const looks = new Set<() => void>();
  const subscribe: Subscribe = (subject, options) => {
    const callback = options?.callback;
    if (!callback) return nc.subscribe(subject, options);
    return nc.subscribe(subject, {
      ...options,
      callback(error, message) {
        const lane = error ? undefined : LANE.exec(message.reply ?? '')?.[1];
        if (lane === undefined) {
          void callback(error, message);
          return;
        }
        setTimeout(() => {
          void callback(error, message);
          counts.set(Number(lane), (counts.get(Number(lane)) ?? 0) + 1);
          for (const look of looks) look();
        }, LATE_MS);
      },
    });
  };
  return {
    connection: {
      ...connection,
      nc: Object.create(nc, { subscribe: { value: subscribe } }) as Connection['nc'],
    },
    came: (lane) => counts.get(lane) ?? 0,
    until: (isSo) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!isSo()) return;
          looks.delete(look);
          resolve();
        };
        looks.add(look);
        look();
      }),
  };
}
