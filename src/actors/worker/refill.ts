/** Asks for as many tasks as may be held. */
import { PRIORITIES } from '../../domain/task.ts';
import { planLaneTargets } from '../../policy/lane-targets.ts';
import type { LaneQueue, Lanes } from './ports.ts';

/** `waiting`: how many are held already, by priority. */
export function refillLanes(lanes: Lanes, perLane: number, waiting: readonly number[]): void {
  const targets = planLaneTargets(perLane, waiting);
  for (const lane of PRIORITIES)
    refillLane(lanes.queues(lane), { target: targets[lane] ?? 0, held: waiting[lane] ?? 0 });
}

/**
 * Several queues of one priority share its room. Each has a part of it asked for, one task at least, because nobody
 * knows where the next one comes; where that is more than there is room for, the first that comes ends the asking.
 */
function refillLane(
  queues: readonly LaneQueue[],
  { target, held }: { readonly target: number; readonly held: number },
): void {
  const crowded = target < queues.length;
  if (target === 0 || (crowded && held >= target)) {
    withdrawQueues(queues);
    return;
  }
  const share = Math.max(1, Math.floor(target / queues.length));
  // A queue that was alone has all of the room asked for; one that is new must not wait until that has come or expired.
  if (queues.some((queue) => queue.requested() === 0))
    withdrawQueues(queues.filter((queue) => queue.requested() > share));
  const asked = queues.reduce((sum, queue) => sum + queue.requested(), 0);
  let room = Math.max(target, queues.length) - held - asked;
  for (const queue of [...queues]) {
    const missing = Math.min(share - queue.requested(), room);
    // Few large requests are cheaper than many small ones; half of the room is enough to go on with meanwhile.
    if (missing <= 0 || missing * 2 < share) continue;
    queue.request(missing);
    room -= missing;
  }
}

/** What was asked for when there was more room; what is under way already still comes. */
export function withdrawAll(lanes: Lanes): void {
  for (const lane of PRIORITIES) withdrawQueues(lanes.queues(lane));
}

function withdrawQueues(queues: readonly LaneQueue[]): void {
  for (const queue of queues) if (queue.requested() > 0) queue.withdraw();
}
