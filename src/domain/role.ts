/** The kinds of actors a cluster is made of. */
export const ROLES = ['coordinator', 'proxy-manager', 'worker', 'exporter', 'autoscaler'] as const;
export type Role = (typeof ROLES)[number];
