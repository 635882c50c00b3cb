/** The words of scaling: who measures, how it is decided, who carries it out. */
export const SCALE_POLICIES = ['drain_time', 'jobs_per_worker', 'per_worker'] as const;
export const SCALE_DRIVERS = ['none', 'process', 'command', 'kubernetes', 'swarm'] as const;
export const SCALE_SOURCES = ['exporter', 'prometheus'] as const;

export type ScaleDriverName = (typeof SCALE_DRIVERS)[number];
