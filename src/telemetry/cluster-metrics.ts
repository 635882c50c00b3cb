/** Metrics of the whole cluster, read from its own records at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import { ROLES } from '../domain/role.ts';
import { STATUSES, type Beat } from '../domain/beat.ts';

export interface ClusterMetrics {
  readWith(listBeats: () => Promise<readonly Beat[]>): void;
}

export function createClusterMetrics(registry: Registry): ClusterMetrics {
  let read: (() => Promise<readonly Beat[]>) | undefined;
  new Gauge({
    name: 'trawl_actors',
    help: 'Actors by role and status, from their heartbeats.',
    labelNames: ['actor_role', 'status'],
    registers: [registry],
    async collect() {
      if (!read) return;
      const beats = await read();
      for (const role of ROLES) {
        for (const status of STATUSES) {
          const count = beats.filter((beat) => beat.role === role && beat.status === status).length;
          this.set({ actor_role: role, status }, count);
        }
      }
    },
  });
  return { readWith: (listBeats) => void (read = listBeats) };
}
