/**
 * Bare connections to a host, for whoever speaks for itself on them: guarded like those of the engine, and through the
 * same proxies.
 */
import { createSecureContext } from 'node:tls';
import type { Socket } from 'node:net';
import type { ProxyAddress } from '../domain/egress.ts';
import { createConnector } from './connector.ts';
import { createAddressGuard, type Resolve } from './guarded-lookup.ts';
import type { Target } from './open-tunnel.ts';
import { createSocketRegister } from './socket-register.ts';

export interface TunnelOptions {
  /** Exact `ip:port` that may be reached although they are not on the public internet. */
  readonly allowLoopback: readonly string[];
  readonly connectMs: number;
  /** How names become addresses; the system's way unless given. */
  readonly resolve?: Resolve | undefined;
}

export interface TunnelEgress {
  readonly id: string;
  readonly address?: ProxyAddress | undefined;
}

export interface Tunnels {
  readonly size: number;
  /** Throws an `HttpFailure` that says whose fault it was. */
  open(target: Target, egress: TunnelEgress): Promise<Socket>;
  /** No socket is left after it. */
  close(): Promise<void>;
}

export function createTunnels({ allowLoopback, connectMs, resolve }: TunnelOptions): Tunnels {
  const sockets = createSocketRegister();
  const parts = {
    guard: createAddressGuard(allowLoopback, resolve),
    sockets,
    secureContext: createSecureContext(),
  };
  const open = new Set<Socket>();

  return {
    get size() {
      return sockets.size;
    },
    open(target, egress) {
      const connect = createConnector(parts, {
        egress: egress.id,
        proxy: egress.address,
        http2: false,
        connectMs: () => connectMs,
        onOpen: () => undefined,
      });
      return new Promise((settle, fail) => {
        // Without TLS of ours: who asks for the connection brings its own.
        const place = { hostname: target.host, protocol: 'http:', port: String(target.port) };
        connect(place, (error, socket) => {
          if (!socket) {
            fail(error);
            return;
          }
          open.add(socket);
          socket.on('close', () => open.delete(socket));
          settle(socket);
        });
      });
    },
    async close() {
      sockets.endDialling();
      for (const socket of open) socket.destroy();
      await sockets.empty();
    },
  };
}
