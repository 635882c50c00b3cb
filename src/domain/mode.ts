/** Where the runs of a scraper take place: in the process that was asked for one, or on the cluster. */
export const MODES = ['single', 'distributed'] as const;
export type Mode = (typeof MODES)[number];
