/**
 * Whether a machine has room for more workers, and for how many. The caller reads its resources and starts the
 * workers; this only decides.
 */

/** See runtime/resources.ts. */
export interface MachineResources {
  readonly cpuPercent: number;
  readonly memoryPercent: number;
  readonly diskPercent: number;
  readonly load1: number;
  readonly cores: number;
  readonly memoryLimitBytes: number;
  readonly memoryUsedBytes: number;
}

/** As the section `guard` of the settings has them. */
export interface GuardLimits {
  /** Per cent; what is used beyond them leaves no room. */
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
  /** Load average of a minute. */
  readonly load: number;
  readonly memoryPerWorker: number; // bytes
  readonly coresPerWorker: number;
}

export type GuardFactor = 'cpu' | 'memory' | 'disk' | 'load';

export interface LimitingFactor {
  readonly factor: GuardFactor;
  readonly value: number;
  readonly limit: number;
}

/** What is used beyond its limit. */
export function limitingFactors(
  resources: MachineResources,
  limits: Pick<GuardLimits, GuardFactor>,
): readonly LimitingFactor[] {
  const values: Readonly<Record<GuardFactor, number>> = {
    cpu: resources.cpuPercent,
    memory: resources.memoryPercent,
    disk: resources.diskPercent,
    load: resources.load1,
  };
  return (['cpu', 'memory', 'disk', 'load'] as const)
    .map((factor) => ({ factor, value: values[factor], limit: limits[factor] }))
    .filter(({ value, limit }) => value > limit);
}

export interface GuardFacts {
  /** That run on this machine already; what they use is part of what is used. */
  readonly workers: number;
}

export interface Fit {
  /** With those that run. Under pressure these stay, and no more fit. */
  readonly count: number;
  /** What keeps it from being more. */
  readonly reason: GuardFactor | 'cores';
}

/** One worker always fits where nothing is used beyond its limit, however small the machine is. */
export function workersThatFit(
  resources: MachineResources,
  { workers }: GuardFacts,
  limits: GuardLimits,
): Fit {
  const [pressing] = limitingFactors(resources, limits);
  if (pressing) return { count: workers, reason: pressing.factor };
  const byCores = Math.max(1, Math.floor(resources.cores / limits.coresPerWorker));
  const roomBytes = (resources.memoryLimitBytes * limits.memory) / 100 - resources.memoryUsedBytes;
  const more = Math.max(0, Math.floor(roomBytes / limits.memoryPerWorker));
  const byMemory = Math.max(1, workers + more);
  return byMemory < byCores ? { count: byMemory, reason: 'memory' } : { count: byCores, reason: 'cores' };
}
