/**
 * How the room for tasks in hand is divided between the lanes. While a higher lane has tasks waiting, a lower one is
 * given only its share of the starts, so it holds no more than that: the rest would lie here while others are idle.
 */
import { PRIORITIES } from '../domain/task.ts';
import { SHARE_EVERY } from './pick-lane.ts';

/** For each priority how many tasks to hold or to have asked for. */
export function planLaneTargets(perLane: number, waiting: readonly number[]): readonly number[] {
  const highest = PRIORITIES.findLast((lane) => (waiting[lane] ?? 0) > 0) ?? 0;
  const share = Math.ceil(perLane / SHARE_EVERY);
  return PRIORITIES.map((lane) => (lane < highest ? share : perLane));
}
