/** A cluster in this process, on a server of its own in a folder: opened for one run, or to look at one. */
import { readFileSync } from 'node:fs';
import { startCluster, type Cluster } from '../../cluster/start-cluster.ts';
import type { Config } from '../../config/fields.ts';
import type { Role } from '../../domain/role.ts';
import { Secret } from '../../domain/secret.ts';
import type { LocalAccess } from '../../local/access.ts';
import { startEmbedded, type Embedded } from '../../local/embedded.ts';
import { demoSiteAddress } from '../../local/layout.ts';
import { expireLeases } from '../../nats/expire-leases.ts';
import type { Log } from '../../telemetry/log.ts';
import { createNames } from '../../wire/names.ts';
import type { CommandContext } from '../command.ts';
import { prepareServer } from '../prepare-server.ts';

export interface SingleSession {
  readonly config: Config;
  readonly log: Log;
  /** Rejects when one of the actors cannot go on. */
  readonly failed: Promise<never>;
  /** The worker finishes what it has in hand, and takes nothing more. */
  drain(): Promise<void>;
  /** Ends everything, the server last. */
  close(): Promise<void>;
}

/** A lone process has no rival to wait for: what it held before it was killed is free again soon. */
const LEADER_TTL_MS = 1_000;
const LOCK_TTL_MAX_MS = 15_000;

export async function openSession(
  context: Pick<CommandContext, 'config' | 'log' | 'output'>,
  options: { readonly folder: string; readonly roles: readonly Role[]; readonly stop: AbortSignal },
): Promise<SingleSession> {
  const { config, output } = context;
  const embedded = await startEmbedded({
    folder: options.folder,
    durability: config.durability,
    maxStoreBytes: config.local.maxStore,
    restartBackoffMaxMs: config.local.restartBackoffMax,
    logLevel: config.log.level,
    prepare: (access) =>
      prepareServer(context, access, (connection) => expireLeases(connection, createNames(config.namespace))),
    report: ({ step, text }) => {
      if (step === 'fetching' || step === 'cleaning') output.progress(`… ${text}`);
    },
    stop: options.stop,
  });
  const own = configFor(config, embedded.access);
  const clusters: Cluster[] = [];
  try {
    for (const group of groupsOf(options.roles))
      clusters.push(await startCluster(own, { role: group, log: embedded.log }));
  } catch (error) {
    await closeAll(clusters, embedded);
    throw error;
  }
  const failed = Promise.race(clusters.map(({ done }) => done)).then(
    () => new Promise<never>(() => undefined),
  );
  failed.catch(() => undefined); // whoever waits for it hears of it
  return {
    config: own,
    log: embedded.log,
    failed,
    async drain() {
      await clusters.at(-1)?.stop();
    },
    close: () => closeAll(clusters, embedded),
  };
}

/** The worker is stopped before those that it needs, so it starts after them. */
function groupsOf(roles: readonly Role[]): Role[][] {
  const isWorker = (role: Role): boolean => role === 'worker';
  return [roles.filter((role) => !isWorker(role)), roles.filter(isWorker)].filter(
    (group) => group.length > 0,
  );
}

async function closeAll(clusters: readonly Cluster[], embedded: Embedded): Promise<void> {
  for (const cluster of [...clusters].reverse()) await cluster.stop().catch(() => undefined);
  await embedded.stop();
}

/** The configuration, for the server in a folder. */
export function configFor(config: Config, { url, user, passwordFile, egressKeyFile }: LocalAccess): Config {
  const read = (file: string): Secret => new Secret(readFileSync(file, 'utf8').trim());
  return {
    ...config,
    nats: {
      ...{ url, user, password: read(passwordFile), replicas: 1 },
      ...{ token: undefined, creds: undefined, nkey: undefined },
      ...{ tlsCa: undefined, tlsCert: undefined, tlsKey: undefined },
    },
    actor: { ...config.actor, id: undefined },
    leader: { ttl: LEADER_TTL_MS },
    lock: { ttl: Math.min(config.lock.ttl, LOCK_TTL_MAX_MS) },
    fetch: {
      ...config.fetch,
      allowLoopback: config.fetch.allowLoopback ?? [demoSiteAddress(config.local.portBase)],
    },
    egress: {
      ...config.egress,
      key: config.egress.key ?? (egressKeyFile === undefined ? undefined : read(egressKeyFile)),
    },
  };
}
