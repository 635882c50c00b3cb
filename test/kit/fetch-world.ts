/** A proxy-manager, a demo site, and workers whose scrapers are the test's: what the site saw is the truth. */
import { Registry } from 'prom-client';
import { createClusterFetcher } from '../../src/cluster/create-fetcher.ts';
import { startActor } from '../../src/cluster/start-actor.ts';
import type { Config } from '../../src/config/fields.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { DemoSite, DemoSiteOptions } from '../../src/demo-site/site.ts';
import type { Outcome } from '../../src/domain/task.ts';
import type { Fetcher } from '../../src/fetch/fetcher.ts';
import { createServices } from '../../src/nats/services-client.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { openDemoSite, openFakeProxy } from './demo-world.ts';
import { quietLog, startNatsServer, type Teardown, type TestServer } from './nats-server.ts';
import { startWorker, type RunningWorker } from './task-worker.ts';
import { createTaskWorld, type NewTask, type TaskWorld } from './task-world.ts';

export interface FetchWorld {
  readonly server: TestServer;
  readonly world: TaskWorld;
  readonly site: DemoSite;
  readonly config: Config;
  /** A verb of the proxy-manager. */
  call(verb: string, body: object): Promise<unknown>;
  start(scrapers: readonly Scraper[], options?: { concurrency?: number }): Promise<FetchWorker>;
  /** Outcomes by key, once all of these tasks are settled. */
  settle(tasks: readonly Omit<NewTask, 'run'>[], limitMs?: number): Promise<Map<string, Outcome>>;
  stopManager(): Promise<void>;
  /** Looks again and again. */
  until(look: () => boolean): Promise<void>;
  /** Proxies that go out from an address of their own, under which the site knows them. */
  addProxies(count: number): Promise<string[]>;
  /** Leases of the site that the manager believes to be held. */
  leases(): Promise<number>;
}

export interface FetchWorker extends RunningWorker {
  readonly fetcher: Fetcher;
  readonly registry: Registry;
}

export interface FetchWorldOptions {
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly site?: DemoSiteOptions;
  /** So many proxies from the start, p0 and on. */
  readonly proxies?: number;
  /** `false`: the test starts its own. */
  readonly manager?: false;
  /** Other sites that may be fetched. */
  readonly allow?: readonly { readonly port: number }[];
}

let count = 0;

export async function openFetchWorld(t: Teardown, options: FetchWorldOptions = {}): Promise<FetchWorld> {
  const server = await startNatsServer(t);
  const world = await createTaskWorld(t, server);
  const site = await openDemoSite(t, options.site);
  const { config } = loadConfig({
    flags: {
      'nats.url': server.url,
      'fetch.allowLoopback': [site, ...(options.allow ?? [])].map(({ port }) => `127.0.0.1:${port}`).join(),
      'egress.jitter': '0',
      ...options.flags,
    },
    env: options.env ?? {},
    cwd: '/',
  });
  const manager = options.manager ?? (await startActor(config, { role: 'proxy-manager', log: quietLog }));
  const stopManager = async (): Promise<void> => {
    if (!manager) return;
    manager.abort();
    await manager.done;
  };
  t.teardown(stopManager);
  const services = createServices(world.connection, world.names);
  if (options.proxies !== undefined) await addProxies(options.proxies);
  return {
    server,
    world,
    site,
    stopManager,
    addProxies,
    async until(look) {
      for (let looks = 0; !look(); looks += 1) {
        if (looks === 1_000) throw new Error('it did not come to that');
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    config,
    call,
    async start(scrapers, { concurrency = 10 } = {}) {
      count += 1;
      const id = `fetcher-${count}`;
      const connection = await server.connect(id);
      const registry = new Registry();
      const fetcher = createClusterFetcher({
        config,
        connection,
        names: world.names,
        id,
        log: quietLog,
        registry,
      });
      const worker = startWorker(t, {
        connection,
        scrapers,
        fetcher,
        limits: { worker: id, concurrency },
      });
      return { ...worker, fetcher, registry };
    },
    async settle(tasks, limitMs) {
      count += 1;
      const run = `run${count}`;
      const settled = await world.follow(run);
      await world.put(tasks.map((task) => ({ ...task, run })));
      return settled.until(tasks.length, limitMs);
    },
    async leases() {
      const host = await call('hosts.show', { host: `127.0.0.1:${site.port}` });
      return (host as { readonly leases: number }).leases;
    },
  };

  async function addProxies(proxies: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < proxies; n += 1) {
      const outAddress = `127.0.0.${n + 2}`;
      const proxy = await openFakeProxy(t, { kind: n % 2 === 0 ? 'http' : 'socks5', outAddress });
      const id = `p${n}`;
      site.nameAddress(outAddress, id);
      await call('proxies.add', { url: proxy.url, id });
      ids.push(id);
    }
    return ids;
  }

  /** The manager may still be on its way to lead. */
  async function call(verb: string, body: object): Promise<unknown> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await services.call(verb, body);
      } catch (error) {
        if (tries === 40) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
