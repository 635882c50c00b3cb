/**
 * Which of a worker's buffers gives the next task to start. The highest priority that waits goes first; but every
 * 20th start that passes over a waiting lower lane goes to one of those, in turn, so that low priorities keep a
 * twentieth of the starts however busy the higher ones are. Order within a lane is the buffer's own.
 */
import type { Priority } from '../domain/task.ts';
import { PRIORITIES } from '../domain/task.ts';

/** Plain data, to be passed in again with the next question. */
export interface LaneTurn {
  /** Starts that passed over a waiting lower lane since the last one that did not. */
  readonly passedOver: number;
  /** The lane that had its share last. */
  readonly lastShare: Priority | undefined;
}

export type LaneChoice =
  | { readonly lane: Priority; readonly reason: 'highest' | 'share'; readonly turn: LaneTurn }
  | { readonly lane: undefined; readonly reason: 'empty'; readonly turn: LaneTurn };

export const FIRST_TURN: LaneTurn = { passedOver: 0, lastShare: undefined };

/** One start of so many goes to a lower lane. */
export const SHARE_EVERY = 20;

/** `waiting` tells for each priority how many tasks are in its buffer. */
export function pickLane(waiting: readonly number[], turn: LaneTurn): LaneChoice {
  const busy = PRIORITIES.filter((lane) => (waiting[lane] ?? 0) > 0);
  const highest = busy.at(-1);
  if (highest === undefined) return { lane: undefined, reason: 'empty', turn };

  const lower = busy.slice(0, -1);
  const lowest = lower[0];
  if (lowest === undefined) return { lane: highest, reason: 'highest', turn };
  if (turn.passedOver < SHARE_EVERY - 1)
    return { lane: highest, reason: 'highest', turn: { ...turn, passedOver: turn.passedOver + 1 } };

  const { lastShare } = turn;
  const lane = lastShare === undefined ? lowest : (lower.find((each) => each > lastShare) ?? lowest);
  return { lane, reason: 'share', turn: { passedOver: 0, lastShare: lane } };
}
