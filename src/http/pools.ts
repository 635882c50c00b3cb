/**
 * One pool of connections per egress, origin and protocol, so that no connection is ever shared between two egresses.
 * The least recently used one is closed when there are too many and it is idle; a busy one is left alone until it is.
 */
import { Pool } from 'undici';
import type { ProxyAddress } from '../domain/egress.ts';
import { createConnector, type ConnectorParts } from './connector.ts';

/** What a pool is for. */
export interface Route {
  readonly egress: string;
  readonly proxy: ProxyAddress | undefined;
  readonly origin: string;
  readonly http2: boolean;
}

export interface Lane {
  readonly pool: Pool;
  readonly route: Route;
  /** Requests that are under way. */
  busy: number;
  /** The limit for the next connection. */
  connectMs: number;
  /** Connections made so far. */
  opened: number;
  httpVersion: '1.1' | '2';
}

export interface Pools {
  readonly size: number;
  /** The lane for a route; hold it with `busy` while it is used, and call `rest` when it is not. */
  lane(route: Route): Lane;
  rest(): void;
  /** Connections through this egress are not used again. */
  drop(egress: string): void;
  destroy(reason: Error): Promise<void>;
}

export interface PoolLimits {
  readonly poolsMax: number;
  readonly connectionsPerOrigin: number; // 0: no limit
  readonly keepAliveMs: number;
  readonly headersMaxBytes: number;
}

export function createPools(parts: ConnectorParts, limits: PoolLimits): Pools {
  /** In the order of use: the first one is the one that rested longest. */
  const lanes = new Map<string, Lane>();
  /** Closed, but not done yet with their last requests. */
  const leaving = new Set<Lane>();
  let newest: Lane | undefined;

  return {
    get size() {
      return lanes.size + leaving.size;
    },
    lane,
    rest() {
      if (lanes.size > limits.poolsMax) trim();
    },
    drop(egress) {
      for (const [key, one] of lanes) {
        if (one.route.egress !== egress) continue;
        lanes.delete(key);
        retire(one);
      }
    },
    async destroy(reason) {
      const all = [...lanes.values(), ...leaving];
      lanes.clear();
      await Promise.all(all.map(({ pool }) => pool.destroy(reason)));
    },
  };

  function lane(route: Route): Lane {
    const key = `${route.egress} ${route.http2 ? 2 : 1} ${route.origin}`;
    let found = lanes.get(key);
    if (found && found === newest && found.route.proxy === route.proxy) return found;
    if (found) lanes.delete(key);
    // An egress that got another address or password must not go on with the old one.
    if (found && !isSameProxy(found.route.proxy, route.proxy)) {
      retire(found);
      found = undefined;
    }
    found ??= create(route);
    lanes.set(key, found);
    newest = found;
    if (lanes.size > limits.poolsMax) trim();
    return found;
  }

  function create(route: Route): Lane {
    const connect = createConnector(parts, {
      egress: route.egress,
      proxy: route.proxy,
      http2: route.http2,
      connectMs: () => made.connectMs,
      onOpen: (protocol) => {
        made.opened += 1;
        made.httpVersion = protocol === 'h2' ? '2' : '1.1';
      },
    });
    const pool = new Pool(route.origin, {
      connect,
      connections: limits.connectionsPerOrigin === 0 ? null : limits.connectionsPerOrigin,
      pipelining: 1,
      allowH2: route.http2,
      keepAliveTimeout: limits.keepAliveMs,
      keepAliveMaxTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headersMaxBytes,
    });
    const made: Lane = { pool, route, busy: 0, connectMs: 0, opened: 0, httpVersion: '1.1' };
    return made;
  }

  function trim(): void {
    for (const [key, one] of lanes) {
      if (lanes.size <= limits.poolsMax) return;
      if (one.busy > 0 || one === newest) continue;
      lanes.delete(key);
      retire(one);
    }
  }

  function retire(one: Lane): void {
    if (one === newest) newest = undefined;
    leaving.add(one);
    const gone = (): void => void leaving.delete(one);
    one.pool.close().then(gone, gone);
  }
}

function isSameProxy(a: ProxyAddress | undefined, b: ProxyAddress | undefined): boolean {
  if (a === b) return true;
  if (!a || !b) return false;
  return (
    a.kind === b.kind &&
    a.host === b.host &&
    a.port === b.port &&
    a.username === b.username &&
    a.password?.reveal() === b.password?.reveal()
  );
}
