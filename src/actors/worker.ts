/** Worker: many copies, all alike. Takes work while its gate is open and until it is told to be quiet. */
import { untilAborted, type Actor } from '../runtime/actor.ts';

export function createWorker(): Actor {
  return { role: 'worker', run: (stop) => untilAborted(stop.quiet) };
}
