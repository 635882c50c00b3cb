/** Who goes when there are too many: first who cannot work anyway, then the least busy, then the youngest. */
import type { WorkerSnapshot } from '../../domain/snapshot.ts';

export function pickToDrain(workers: readonly WorkerSnapshot[], count: number): WorkerSnapshot[] {
  return workers
    .filter(({ status }) => status === 'running' || status === 'initializing')
    .sort(
      (a, b) =>
        Number(b.paused) - Number(a.paused) ||
        a.busy - b.busy ||
        b.startedAt - a.startedAt ||
        (a.id < b.id ? -1 : 1),
    )
    .slice(0, Math.max(0, count));
}
