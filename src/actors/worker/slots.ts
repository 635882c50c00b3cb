/** How many handlers a worker lets itself run at the moment: all that its settings say, or fewer while it is under pressure. */
import { allSlots, decideSlots, type PressureFactor, type SlotState } from '../../policy/pressure.ts';
import type { WorkerLimits, WorkerPorts } from './ports.ts';

export interface Slots {
  now(): number;
  /** What it was lowered for; nothing when all slots are allowed. */
  limitedBy(): readonly PressureFactor[];
  /** Notes how many run. */
  used(running: number): void;
  /** Takes a reading, if it is time; tells what has changed. */
  look(): 'lowered' | 'raised' | undefined;
}

export interface SlotParts {
  readonly ports: Pick<WorkerPorts, 'readStrain' | 'onSlots' | 'log'>;
  readonly limits: Pick<WorkerLimits, 'concurrency' | 'pressure'>;
  /** Monotonic ms. */
  readonly now?: () => number;
}

export function createSlots({ ports, limits, now = () => performance.now() }: SlotParts): Slots {
  const { concurrency: slots, pressure } = limits;
  let state: SlotState = allSlots(slots);
  let busy = 0;
  let readAt = now();
  let changedAt = -Infinity;

  return {
    now: () => state.allowed,
    limitedBy: () => state.limitedBy,
    used: (running) => void (busy = Math.max(busy, running)),
    look() {
      const at = now();
      if (!ports.readStrain || at - readAt < pressure.intervalMs) return undefined;
      readAt = at;
      const from = state.allowed;
      const strain = ports.readStrain();
      const decision = decideSlots({ strain, slots, busy, state, sinceChangeMs: at - changedAt }, pressure);
      const { reason, allowed: to, limitedBy } = decision;
      state = decision;
      busy = 0;
      if (reason !== 'lowered' && reason !== 'raised') return undefined;
      changedAt = at;
      ports.log.info(`slots.${reason}`, { from, to, slots, limitedBy, ...strain });
      ports.onSlots?.();
      return reason;
    },
  };
}
