/** Exporter: one page that tells how the whole cluster is, read when somebody asks. */
import type { Beat } from '../domain/beat.ts';
import { untilAborted, type Actor } from '../runtime/actor.ts';
import type { ClusterMetrics } from '../telemetry/cluster-metrics.ts';

export interface ExporterPorts {
  readonly metrics: ClusterMetrics;
  readonly listBeats: () => Promise<readonly Beat[]>;
}

export function createExporter(ports: ExporterPorts): Actor {
  ports.metrics.readWith(ports.listBeats);
  return { role: 'exporter', run: (stop) => untilAborted(stop.quiet) };
}
