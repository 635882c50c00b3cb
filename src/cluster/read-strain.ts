/** What presses on a worker: its machine or container, its own process, and its event loop. */
import type { Strain } from '../policy/pressure.ts';
import { createUsageReader, readHeapPercent } from '../runtime/own-usage.ts';
import { createResourceReader, type ResourceReader } from '../runtime/resources.ts';
import type { LoopDelay } from '../telemetry/loop-delay.ts';

export interface StrainParts {
  readonly loopDelay: LoopDelay;
  readonly resources?: ResourceReader | undefined;
}

/** Each call tells of the time since the one before. */
export function createStrainReader({ loopDelay, resources }: StrainParts): () => Strain {
  const machine = resources ?? createResourceReader();
  const own = createUsageReader();
  const loop = loopDelay.openReader();
  return () => {
    const { memoryPercent, cpuPercent, cores } = machine.read();
    return {
      memoryPercent: Math.max(memoryPercent, readHeapPercent()),
      cpuPercent,
      // A quota of half a core is all that the loop can use.
      ownCpuPercent: own.read().cpuPercent / Math.min(1, cores),
      loopLagMs: Math.round(loop.takeMeanMs()),
    };
  };
}
