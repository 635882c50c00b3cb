/**
 * The configuration of one local nats-server: loopback only, nobody gets in without a password, JetStream for the
 * application's account, a second account for `nats top` and `nats server report`.
 */
import type { Secret } from '../domain/secret.ts';
import type { ClusterPorts, NodePaths } from './layout.ts';

export const APP_USER = 'trawl';
export const SYS_USER = 'sys';
const ROUTE_USER = 'route';
const HOST = '127.0.0.1';

export interface ClusterSecrets {
  readonly app: Secret;
  readonly sys: Secret;
  readonly route: Secret;
}

export interface NatsConfOptions {
  readonly cluster: string;
  /** Counted from 1. */
  readonly number: number;
  readonly paths: NodePaths;
  readonly ports: ClusterPorts;
  /** `always`: an acknowledged message is on disk. `interval`: the server syncs every two minutes, its own default. */
  readonly durability: 'always' | 'interval';
  readonly maxStoreBytes: number;
  readonly secrets: ClusterSecrets;
}

/** The text holds passwords: write it where only its owner reads. */
export function renderNatsConf(options: NatsConfOptions): string {
  const { cluster, number, paths, ports, secrets } = options;
  const own = (list: readonly number[]): string => quoted(`${HOST}:${list[number - 1] ?? 0}`);
  return `# Written by \`trawl up\` at every start: changes here are lost.
server_name: ${quoted(`${cluster}-${number}`)}
listen: ${own(ports.client)}
http: ${own(ports.monitor)}
pid_file: ${quoted(paths.pidFile)}

# The largest message: larger page bodies go to the object store.
max_payload: 1MB
# A client that does not read is cut off, and one that is gone is noticed.
write_deadline: "10s"
ping_interval: "20s"
ping_max: 2

jetstream {
  store_dir: ${quoted(paths.store)}
  max_memory_store: 256MB
  # A limit is an error that goes away; a full disk needs a restart.
  max_file_store: ${options.maxStoreBytes}
  sync_interval: ${options.durability === 'always' ? 'always' : '"2m"'}
}

accounts {
  APP {
    jetstream: enabled
    users: [ ${user(APP_USER, secrets.app)} ]
  }
  SYS {
    users: [ ${user(SYS_USER, secrets.sys)} ]
  }
}
system_account: SYS
${ports.routes.length > 0 ? renderCluster(options, own(ports.routes)) : ''}`;
}

function renderCluster({ cluster, ports, secrets }: NatsConfOptions, listen: string): string {
  const password = encodeURIComponent(secrets.route.reveal());
  const routes = ports.routes.map((port) => quoted(`nats-route://${ROUTE_USER}:${password}@${HOST}:${port}`));
  return `
cluster {
  name: ${quoted(cluster)}
  listen: ${listen}
  authorization ${user(ROUTE_USER, secrets.route)}
  routes: [
    ${routes.join('\n    ')}
  ]
}
`;
}

function user(name: string, password: Secret): string {
  return `{ user: ${quoted(name)}, password: ${quoted(password.reveal())} }`;
}

/** The server's strings escape as JSON's do. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
