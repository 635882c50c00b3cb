/** Tasks that were delivered and have not been started: one line per priority, first come, first served. */
import { PRIORITIES, type Priority } from '../../domain/task.ts';
import { FIRST_TURN, pickLane, type LaneTurn } from '../../policy/pick-lane.ts';
import type { Delivery } from './ports.ts';

export interface WaitingRoom {
  add(delivery: Delivery): void;
  /** The one to start next. */
  take(): Delivery | undefined;
  /** How many wait, by priority. */
  readonly counts: readonly number[];
  size(): number;
  list(): Delivery[];
  /** Takes out those that fit. */
  remove(fits: (delivery: Delivery) => boolean): Delivery[];
}

interface Line {
  deliveries: Delivery[];
  first: number;
}

/** The started part of a line is cut off when it has grown to this. */
const CUT_AT = 1_024;

export function createWaitingRoom(): WaitingRoom {
  const lines: Line[] = PRIORITIES.map(() => ({ deliveries: [], first: 0 }));
  const counts: number[] = PRIORITIES.map(() => 0);
  let turn: LaneTurn = FIRST_TURN;
  let size = 0;

  const list = (): Delivery[] => lines.flatMap(({ deliveries, first }) => deliveries.slice(first));
  return { add, take, counts, size: () => size, list, remove };

  function count(lane: Priority, change: number): void {
    counts[lane] = (counts[lane] ?? 0) + change;
    size += change;
  }

  function add(delivery: Delivery): void {
    lines[delivery.lane]?.deliveries.push(delivery);
    count(delivery.lane, 1);
  }

  function take(): Delivery | undefined {
    if (size === 0) return undefined;
    const choice = pickLane(counts, turn);
    turn = choice.turn;
    const line = choice.lane === undefined ? undefined : lines[choice.lane];
    const delivery = line?.deliveries[line.first];
    if (!line || !delivery) return undefined;
    line.first += 1;
    if (line.first >= CUT_AT || line.first === line.deliveries.length) cut(line);
    count(delivery.lane, -1);
    return delivery;
  }

  function cut(line: Line): void {
    line.deliveries = line.deliveries.slice(line.first);
    line.first = 0;
  }

  function remove(fits: (delivery: Delivery) => boolean): Delivery[] {
    const removed: Delivery[] = [];
    if (size === 0) return removed;
    for (const line of lines) {
      cut(line);
      const kept: Delivery[] = [];
      for (const delivery of line.deliveries) (fits(delivery) ? removed : kept).push(delivery);
      line.deliveries = kept;
    }
    for (const { lane } of removed) count(lane, -1);
    return removed;
  }
}
