/** Asks for as many tasks as may be held. */
import { PRIORITIES } from '../../domain/task.ts';
import { planLaneTargets } from '../../policy/lane-targets.ts';
import type { Lanes } from './ports.ts';

/** `waiting`: how many are held already, by priority. */
export function refillLanes(lanes: Lanes, perLane: number, waiting: readonly number[]): void {
  const targets = planLaneTargets(perLane, waiting);
  for (const lane of PRIORITIES) {
    const target = targets[lane] ?? 0;
    const requested = lanes.requested(lane);
    const missing = target - requested - (waiting[lane] ?? 0);
    if (target === 0 && requested > 0) lanes.withdraw(lane);
    // Few large requests are cheaper than many small ones; half of the room is enough to go on with meanwhile.
    else if (missing > 0 && missing * 2 >= target) lanes.request(lane, missing);
  }
}

/** What was asked for when there was more room; what is under way already still comes. */
export function withdrawAll(lanes: Lanes): void {
  for (const lane of PRIORITIES) if (lanes.requested(lane) > 0) lanes.withdraw(lane);
}
