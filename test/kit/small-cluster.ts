/** A coordinator and workers in this process, on a server of their own, with a scraper of the test. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startActor, type Running } from '../../src/cluster/start-actor.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Role } from '../../src/domain/role.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { createServices, type Services } from '../../src/nats/services-client.ts';
import { createNames, type Names } from '../../src/wire/names.ts';
import { STEADY_TTL } from './leader-ttl.ts';
import { quietLog, startNatsServer, temporaryFolder, type Teardown, type TestServer } from './nats-server.ts';

export interface SmallCluster {
  readonly server: TestServer;
  /** Where the scrapers are. */
  readonly scrapers: string;
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly names: Names;
  /** A worker may be given one scraper alone. */
  readonly start: (role: Role, id: string, onlyScraper?: string) => Promise<Running>;
  readonly services: Services;
  readonly call: <T = Record<string, unknown>>(verb: string, body: object) => Promise<T>;
  /** The id of the task. */
  readonly submit: (run: string, key: string, input?: object) => Promise<string>;
  /** Makes a run of these tasks, and closes its list. */
  readonly submitAll: (
    run: string,
    tasks: readonly { key: string; priority?: number; input?: object }[],
  ) => Promise<void>;
}

const SCRAPER = `
  export const scraper = {
    name: 'gate',
    retries: 0,
    async run({ input, signal, emit }) {
      if (input.fail) throw new Error('it fails as it was told to');
      if (input.once && !globalThis[input.once]) {
        globalThis[input.once] = true;
        throw new Error('the first time it fails');
      }
      if (input.later) throw Object.assign(new Error('later'), { name: 'Failure', code: 'THROTTLED', retryAtMs: Date.now() + input.later });
      if (input.hold) await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (input.megabytes) emit({ text: 'x'.repeat(input.megabytes * 1024 * 1024) });
      else emit({ n: 1 });
    },
  };`;

export async function startSmallCluster(
  t: Teardown,
  flags: Readonly<Record<string, string>> = {},
  scrapers: Readonly<Record<string, string>> = {},
): Promise<SmallCluster> {
  const names = createNames('trawl');
  const server = await startNatsServer(t);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'scrapers'));
  for (const [name, source] of Object.entries({ gate: SCRAPER, ...scrapers }))
    writeFileSync(join(folder, `scrapers/${name}.mjs`), source);
  const connection = await server.connect();
  const { config } = loadConfig({
    flags: {
      'nats.url': server.url,
      'worker.scrapers': join(folder, 'scrapers'),
      'leader.ttl': STEADY_TTL,
      'http.port': '0',
      'runs.maxActivePerScraper': '50',
      ...flags,
    },
    env: {},
    cwd: folder,
  });
  await applyTopology(connection, planCluster(config), { onDrift: 'update' });
  const services = createServices(connection, names);
  const call = <T>(verb: string, body: object): Promise<T> => services.call(verb, body) as Promise<T>;

  return {
    server,
    scrapers: join(folder, 'scrapers'),
    connection,
    bucket: openBucket(connection, names.bucket('cluster')),
    names,
    services,
    call,
    async start(role, id, onlyScraper) {
      const actor = await startActor(
        { ...config, actor: { ...config.actor, id } },
        { role, log: quietLog, onlyScraper },
      );
      t.teardown(async () => {
        actor.abort();
        await actor.done.catch(() => undefined);
      });
      if (role === 'coordinator')
        await untilSo(
          () => call('run.list', {}).catch(() => undefined),
          (answer) => answer !== undefined,
        );
      return actor;
    },
    async submit(run, key, input = {}) {
      const body = { scraper: 'gate', run, key, input };
      const { tasks } = await call<{ tasks: { id: string }[] }>('submit', body);
      return tasks[0]?.id ?? '';
    },
    async submitAll(run, tasks) {
      await call('run.create', { scraper: 'gate', run });
      await connection.js.publish(names.submit('gate', run), JSON.stringify(tasks));
      await call('run.seal', { run, messages: 1 });
    },
  };
}

/** Looks again until it is so: what happens in between has no event of its own. */
export async function untilSo<T>(
  look: () => Promise<T>,
  isSo: (found: T) => boolean,
  limitMs = 20_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (isSo(found)) return found;
    if (Date.now() > end) throw new Error(`it did not come to that: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
