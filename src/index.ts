/** What programs import from `trawl`. */
export { loadConfig, type LoadedConfig } from './config/load.ts';
export type { Config } from './config/fields.ts';
export { startCluster, type Cluster, type ClusterOptions } from './cluster/start-cluster.ts';
export { Failure, type FailureCode } from './domain/failure.ts';
