/** The topology that this configuration asks for. */
import { join } from 'node:path';
import type { Config } from '../config/fields.ts';
import { readTopologyFiles } from '../nats/apply-topology.ts';
import { projectRoot } from '../project-root.ts';
import { createNames } from '../wire/names.ts';
import { planTopology, type Topology } from '../wire/topology.ts';

export function planCluster(config: Pick<Config, 'namespace' | 'nats'>): Topology {
  const files = readTopologyFiles(join(projectRoot, 'nats'));
  return planTopology(files, { names: createNames(config.namespace), replicas: config.nats.replicas });
}
