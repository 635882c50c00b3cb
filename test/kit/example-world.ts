/** A small cluster in this process with the scrapers of some examples, and the demo site as their world. */
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/client.ts';
import { startCluster } from '../../src/cluster/start-cluster.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { DemoSite, DemoSiteOptions } from '../../src/demo-site/site.ts';
import type { Role } from '../../src/domain/role.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { projectRoot } from '../../src/project-root.ts';
import { createNames } from '../../src/wire/names.ts';
import { openDemoSite } from './demo-world.ts';
import { STEADY_TTL } from './leader-ttl.ts';
import { quietLog, startNatsServer, type Teardown, type TestServer } from './nats-server.ts';

export interface ExampleWorld {
  readonly site: DemoSite;
  readonly server: TestServer;
  readonly client: Client;
  readonly call: <T = Record<string, unknown>>(verb: string, body: object) => Promise<T>;
  /** Ends all workers, as a restart does, and starts others. */
  readonly restartWorkers: () => Promise<void>;
}

export interface ExampleOptions {
  /** Folders or files below config/examples, or paths. */
  readonly scrapers: readonly string[];
  readonly flags?: Readonly<Record<string, string>>;
  readonly site?: DemoSiteOptions;
  readonly workers?: number;
  /** Of the scrapers; set before they are loaded. */
  readonly env?: (site: DemoSite) => Readonly<Record<string, string>>;
}

export async function startExampleWorld(t: Teardown, options: ExampleOptions): Promise<ExampleWorld> {
  const site = await openDemoSite(t, options.site ?? {});
  Object.assign(process.env, options.env?.(site));
  const server = await startNatsServer(t);
  const connection = await server.connect();
  const names = createNames('trawl');
  const { config } = loadConfig({
    flags: {
      'nats.url': server.url,
      'worker.scrapers': options.scrapers.map(placeOf).join(','),
      'leader.ttl': STEADY_TTL,
      'fetch.allowLoopback': `127.0.0.1:${site.port}`,
      'tasks.retryBase': '20ms',
      ...options.flags,
    },
    env: {},
    cwd: projectRoot,
  });
  await applyTopology(connection, planCluster(config), { onDrift: 'update' });
  const start = async (role: readonly Role[]): Promise<() => Promise<void>> => {
    const cluster = await startCluster(config, { role, log: quietLog });
    return () => cluster.abort();
  };
  const end = await start(['coordinator', 'proxy-manager']);
  let workers: (() => Promise<void>)[] = [];
  const startWorkers = async (): Promise<void> => {
    workers = await Promise.all(Array.from({ length: options.workers ?? 2 }, () => start(['worker'])));
  };
  const endWorkers = async (): Promise<void> => {
    await Promise.all(workers.map((endOne) => endOne()));
  };
  await startWorkers();
  t.teardown(async () => {
    await endWorkers();
    await end();
  });
  const services = createServices(connection, names, {
    ...{ nobody: 'nobody answers', hint: '' },
    patienceMs: 10_000,
  });
  return {
    site,
    server,
    client: createClient(connection, { names, durability: config.durability, services }),
    call: <T>(verb: string, body: object) => services.call(verb, body) as Promise<T>,
    async restartWorkers() {
      await endWorkers();
      await startWorkers();
    },
  };
}

export function example(path: string): string {
  return join(projectRoot, 'config/examples', path);
}

function placeOf(path: string): string {
  return path.startsWith('/') ? path : example(path);
}
