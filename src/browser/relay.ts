/**
 * All that a browser sends goes through here: pages, what they load, WebSockets. To the browser it is a SOCKS5 proxy on a
 * port of this machine, one port per route. What it asks for is looked at by the guard of addresses and dialled through
 * the route's egress, so a page can lead the browser no further than it could lead the http engine.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { asHttpFailure, type HttpFailure } from '../http/http-failure.ts';
import type { Target } from '../http/open-tunnel.ts';
import type { TunnelEgress, Tunnels } from '../http/tunnels.ts';
import { isOwnConnection } from './peer-owner.ts';
import { readTarget, REPLY, sayReply } from './socks-server.ts';

export interface RelayRoute {
  readonly port: number;
  /** Bytes that came from sites so far. */
  readonly received: number;
  /** So many more may come; with the next one all connections end. */
  allow(bytes: number): void;
  isExceeded(): boolean;
  /** What is known of connections to `host:port` since this time (monotonic ms). */
  lately(target: string, since: number): { readonly openedAt?: number; readonly fault?: HttpFailure };
  /** Ends all connections; new ones may come. */
  drop(): void;
  close(): Promise<void>;
}

interface Seen {
  at: number;
  fault: HttpFailure | undefined;
}

const HANDSHAKE_MAX_MS = 10_000;
const SOCKETS_MAX = 512;
const TARGETS_MAX = 1_000;

/** Without an egress: refuses everything. */
export async function openRelayRoute(
  tunnels: Tunnels,
  egress: TunnelEgress | undefined,
): Promise<RelayRoute> {
  const clients = new Set<Socket>();
  const seen = new Map<string, Seen>();
  let received = 0;
  let limit = 0;
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined).on('close', () => clients.delete(client));
    client.setTimeout(HANDSHAKE_MAX_MS, () => client.destroy());
    serve(client).catch(() => client.destroy());
  });
  server.maxConnections = SOCKETS_MAX;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    port,
    get received() {
      return received;
    },
    allow(bytes) {
      limit = Math.max(limit, received + bytes);
    },
    isExceeded: () => received > limit,
    lately(target, since) {
      const found = seen.get(target);
      if (!found || found.at < since) return {};
      return found.fault ? { fault: found.fault } : { openedAt: found.at };
    },
    drop,
    async close() {
      const closed = once(server, 'close');
      server.close();
      drop();
      await closed;
    },
  };

  async function serve(client: Socket): Promise<void> {
    if (!egress || !(await isOwnConnection(client))) return void client.destroy();
    const target = await readTarget(client);
    if (!target) return void client.end(sayReply(REPLY.unsupported));
    client.setTimeout(0);
    let site: Socket;
    try {
      site = await tunnels.open(target, egress);
    } catch (error) {
      note(target, asHttpFailure(error, { host: target.host, sent: false }));
      return void client.end(sayReply(REPLY.refused));
    }
    note(target, undefined);
    client.write(sayReply(REPLY.ok));
    join(client, site);
  }

  function note({ host, port: at }: Target, fault: HttpFailure | undefined): void {
    const key = placeOf(host, at);
    seen.delete(key);
    seen.set(key, { at: performance.now(), fault });
    const [oldest] = seen.keys();
    if (seen.size > TARGETS_MAX && oldest !== undefined) seen.delete(oldest);
  }

  function join(client: Socket, site: Socket): void {
    site.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > limit) drop();
    });
    client.pipe(site).pipe(client);
    client.on('close', () => site.destroy());
    site.on('close', () => client.destroy());
    // It may have left while the site was being reached.
    if (client.destroyed) site.destroy();
  }

  function drop(): void {
    for (const client of clients) client.destroy();
  }
}

export function placeOf(host: string, port: number): string {
  return `${host.replace(/^\[|\]$/g, '')} ${port}`;
}
