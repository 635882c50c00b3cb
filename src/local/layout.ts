/** Where a local cluster keeps its things, how it is called, and which ports it takes. Nothing here touches the disk. */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { Failure } from '../domain/failure.ts';

export interface Layout {
  readonly home: string;
  /** Shows that this folder is ours, and holds the cluster's name. */
  readonly marker: string;
  readonly state: string;
  readonly socket: string;
  readonly data: string;
  readonly logs: string;
  readonly secrets: string;
}

export interface NodePaths {
  readonly name: string;
  readonly config: string;
  readonly pidFile: string;
  readonly store: string;
}

export interface ClusterPorts {
  readonly client: readonly number[];
  /** Between the servers; empty with one server. */
  readonly routes: readonly number[];
  readonly monitor: readonly number[];
  /** Of the exporter; 0: any free one. */
  readonly http: number;
}

/** Everything in a home that is ours; cleaning removes these and nothing else. */
export const HOME_ENTRIES =
  /^(\.trawl-home|(cluster|single)\.json(\.new)?|control\.sock|data|logs|prometheus|secrets|nats-\d+\.(conf|pid)|lock\.[\w.-]+)$/;

/** The kernel cuts longer paths off (104 bytes on macOS, 108 on Linux). */
const SOCKET_PATH_MAX_BYTES = 100;
const CLIENT_PORT = 4222;
const ROUTE_PORT = 6222;
const MONITOR_PORT = 8222;
const DEMO_SITE_PORT = 8088;
const PROMETHEUS_PORT = 9090;
const PORT_MAX = 65_535;

/** `shortFolder`: a private folder with a short path, for the socket of a home whose own path is too long. */
export function planLayout({ home, shortFolder }: { home: string; shortFolder: string }): Layout {
  const socket = join(home, 'control.sock');
  return {
    home,
    marker: join(home, '.trawl-home'),
    state: join(home, 'cluster.json'),
    socket:
      Buffer.byteLength(socket) <= SOCKET_PATH_MAX_BYTES ? socket : join(shortFolder, `${digest(home)}.sock`),
    data: join(home, 'data'),
    logs: join(home, 'logs'),
    secrets: join(home, 'secrets'),
  };
}

/** Server `number` of the cluster, counted from 1. */
export function nodePaths(layout: Layout, number: number): NodePaths {
  const name = `nats-${number}`;
  return {
    name,
    config: join(layout.home, `${name}.conf`),
    pidFile: join(layout.home, `${name}.pid`),
    store: join(layout.data, name),
  };
}

export function logFile(layout: Layout, name: string): string {
  return join(layout.logs, `${name}.log`);
}

export function passwordFile(layout: Layout, who: 'app' | 'sys' | 'route'): string {
  return join(layout.secrets, `${who}.password`);
}

/** What seals the credentials of proxies and sessions: the server must not see it, so it is none of its passwords. */
export function egressKeyFile(layout: Layout): string {
  return join(layout.secrets, 'egress.key');
}

/** `.trawl` is `trawl`; any other home adds its own name, so that two clusters are told apart. */
export function clusterNameOf(home: string): string {
  const own = basename(home)
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return own === '' || own === 'trawl' ? 'trawl' : `trawl-${own.replace(/^trawl-/, '')}`;
}

/** A short name for a path, the same every time. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

export function planPorts(options: { portBase: number; nodes: number; httpPort: number }): ClusterPorts {
  const shift = options.portBase - CLIENT_PORT;
  const from = (port: number): number[] => Array.from({ length: options.nodes }, (_, n) => port + shift + n);
  const ports = {
    client: from(CLIENT_PORT),
    routes: options.nodes > 1 ? from(ROUTE_PORT) : [],
    monitor: from(MONITOR_PORT),
    http: options.httpPort === 0 ? 0 : options.httpPort + shift,
  };
  refuseImpossible(allPorts(ports), options.portBase);
  return ports;
}

/** Where the demo site of this cluster listens; nothing but `trawl demo-site` takes the port. */
export function demoSitePort(portBase: number): number {
  return DEMO_SITE_PORT + portBase - CLIENT_PORT;
}

/** The one place on this machine that tasks of a local cluster or a single run may fetch from, unless somebody names others. */
export function demoSiteAddress(portBase: number): string {
  return `127.0.0.1:${demoSitePort(portBase)}`;
}

/** Where Prometheus listens when it runs beside this cluster; nothing but `trawl observe` takes the port. */
export function prometheusPort(portBase: number): number {
  return PROMETHEUS_PORT + portBase - CLIENT_PORT;
}

/** Where clients of this machine reach the server that has this port. */
export function clientUrl(port: number): string {
  return `nats://127.0.0.1:${port}`;
}

/** The ports that are known beforehand. */
export function allPorts(ports: ClusterPorts): number[] {
  const { client, routes, monitor, http } = ports;
  return [...client, ...routes, ...monitor, ...(http === 0 ? [] : [http])];
}

function refuseImpossible(ports: readonly number[], portBase: number): void {
  const outside = ports.find((port) => port < 1 || port > PORT_MAX);
  if (outside !== undefined) {
    throw new Failure('INVALID', `port base ${portBase} would need port ${outside}, which does not exist`, {
      hint: 'Choose a --port-base between 1024 and 60000.',
    });
  }
  const twice = ports.find((port, index) => ports.indexOf(port) !== index);
  if (twice !== undefined) {
    throw new Failure('INVALID', `port ${twice} would be needed twice: by NATS and by the exporter`, {
      hint: 'Choose another http.port.',
    });
  }
}
