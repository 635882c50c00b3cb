/** The files that a local cluster needs before it starts: passwords, server configurations, contexts of the nats CLI. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Log } from '../telemetry/log.ts';
import { writeContexts, type ContextNames } from './context-file.ts';
import { nodePaths, type ClusterPorts, type Layout } from './layout.ts';
import { renderNatsConf } from './nats-conf.ts';
import type { ClusterPlan } from './plan.ts';
import { ensureSecrets } from './secrets.ts';

export interface ClusterFacts {
  readonly plan: ClusterPlan;
  readonly layout: Layout;
  readonly cluster: string;
  readonly ports: ClusterPorts;
  readonly urls: readonly string[];
}

/** The names of the contexts, when they could be written. */
export function writeClusterFiles(facts: ClusterFacts, log: Log): ContextNames | undefined {
  const { plan, layout, cluster, ports, urls } = facts;
  mkdirSync(layout.logs, { recursive: true, mode: 0o700 });
  const secrets = ensureSecrets(layout);
  for (const [index] of ports.client.entries()) {
    const paths = nodePaths(layout, index + 1);
    const { durability, maxStoreBytes } = plan;
    const text = renderNatsConf({
      cluster,
      number: index + 1,
      paths,
      ports,
      durability,
      maxStoreBytes,
      secrets,
    });
    rmSync(paths.config, { force: true }); // the mode is set on a new file only
    writeFileSync(paths.config, text, { mode: 0o600 });
  }
  if (plan.configHome === undefined) return undefined;
  try {
    return writeContexts({ configHome: plan.configHome, cluster, home: layout.home, urls, secrets });
  } catch (error) {
    log.warn('context.unwritten', { reason: error }); // a convenience: the cluster works without
    return undefined;
  }
}
