/**
 * A suspect runs alone, and each such start is counted durably before it happens: if the worker dies of it, the count
 * stays, and after a few of those the task is buried. If the worker lives, the count is taken back.
 */
import { messageOf } from '../../domain/failure.ts';
import type { TaskSpec } from '../../domain/task.ts';
import { judgeDelivery } from '../../policy/poison.ts';
import type { Delivery, WorkerLimits, WorkerPorts } from './ports.ts';
import type { Settler } from './settling.ts';

export interface SoloParts {
  readonly ports: Pick<WorkerPorts, 'beginSolo' | 'endSolo' | 'log'>;
  readonly limits: WorkerLimits;
  readonly settler: Settler;
  /** What is on its way between two places; its lease is looked after. */
  readonly settling: Set<Delivery>;
  readonly isClosed: () => boolean;
  /** Resolves when the task has been settled. */
  readonly startAndWait: (delivery: Delivery) => Promise<void>;
}

const UNCOUNTED_DELAY_MS = 5_000;

export function createSolo(parts: SoloParts): { run(delivery: Delivery): Promise<void> } {
  const { ports, limits, settler, settling } = parts;
  return { run };

  async function run(delivery: Delivery): Promise<void> {
    const { spec } = delivery.task;
    const soloStarts = await begin(delivery);
    if (soloStarts === undefined) return;
    const verdict = judgeDelivery({ deliveries: delivery.deliveries, soloStarts }, limits.poison);
    if (parts.isClosed()) {
      settler.giveBack(delivery, 0);
    } else if (verdict.verdict === 'bury') {
      await settler.bury(delivery, { code: 'POISON', message: verdict.message });
    } else {
      const { run, id } = spec;
      ports.log.info('task.alone', { run, id, deliveries: delivery.deliveries, soloStarts });
      await parts.startAndWait(delivery);
    }
    await end(spec);
  }

  async function begin(delivery: Delivery): Promise<number | undefined> {
    settling.add(delivery);
    try {
      return await ports.beginSolo(delivery.task.spec);
    } catch (error) {
      ports.log.warn('task.uncounted', { id: delivery.task.spec.id, reason: messageOf(error) });
      settler.giveBack(delivery, UNCOUNTED_DELAY_MS);
      return undefined;
    } finally {
      settling.delete(delivery);
    }
  }

  async function end(spec: TaskSpec): Promise<void> {
    try {
      await ports.endSolo(spec);
    } catch (error) {
      // It is forgotten by itself after a while; until then it counts as one that ended its worker.
      ports.log.warn('task.uncounted', { id: spec.id, reason: messageOf(error) });
    }
  }
}
