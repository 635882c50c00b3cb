/** How much of this machine nobody uses. */
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

interface Ticks {
  readonly idle: number;
  readonly all: number;
}

/** In cores, over the next while. */
export async function measureIdleCores(whileMs: number): Promise<number> {
  const before = readTicks();
  await delay(whileMs);
  const after = readTicks();
  const all = after.all - before.all;
  return all === 0 ? 0 : ((after.idle - before.idle) / all) * cpus().length;
}

function readTicks(): Ticks {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.idle + times.user + times.nice + times.sys + times.irq;
  }
  return { idle, all };
}
