/** The kinds of actors a cluster is made of. */
export const STANDING_ROLES = ['coordinator', 'proxy-manager', 'worker', 'exporter', 'autoscaler'] as const;
/** A sink is there for somebody who wants one: it has a name and a target, which the others have not. */
export const ROLES = [...STANDING_ROLES, 'sink'] as const;
export type Role = (typeof ROLES)[number];
