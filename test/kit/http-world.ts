/** Small servers and proxies for tests of the http engine, and an engine that may reach them. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createHttpEngine,
  type EngineOptions,
  type HttpAnswer,
  type HttpEngine,
  type HttpRequest,
} from '../../src/http/engine.ts';
import { HttpFailure } from '../../src/http/http-failure.ts';
import type { Teardown } from './nats-server.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Signed by itself, for these names and addresses. */
export function makeCertificate(
  names: readonly string[] = ['localhost'],
  addresses: readonly string[] = ['127.0.0.1'],
): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'trawl-cert-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const san = [...names.map((name) => `DNS:${name}`), ...addresses.map((address) => `IP:${address}`)].join(
      ',',
    );
    const options = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test`;
    execFileSync(
      'openssl',
      [...options.split(' '), '-addext', `subjectAltName=${san}`, '-keyout', key, '-out', cert],
      {
        stdio: 'ignore',
      },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Listens on a free port of 127.0.0.1 until the test ends. */
export async function listen(t: Teardown, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  // Also for TLS servers: what is counted and ended is the connection below.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

export function startSite(t: Teardown, listener: RequestListener): Promise<number> {
  return listen(t, createHttpServer({ keepAliveTimeout: 60_000 }, listener));
}

/** Speaks bytes, not HTTP. */
export function startRaw(t: Teardown, onSocket: (socket: Socket) => void): Promise<number> {
  return listen(t, createTcpServer(onSocket));
}

/** Calls back when the client has said something; the answer is up to the test. */
export function startRawAnswer(t: Teardown, answer: (socket: Socket) => void): Promise<number> {
  return startRaw(t, (socket) => socket.once('data', () => answer(socket)));
}

export interface World {
  readonly engine: HttpEngine;
  readonly get: (url: string, options?: Partial<HttpRequest>) => Promise<HttpAnswer>;
  /** The failure of a request that must not succeed. */
  readonly failing: (url: string, options?: Partial<HttpRequest>) => Promise<HttpFailure>;
}

export const TIMEOUTS = { connectMs: 5000, headersMs: 5000, bodyMs: 5000, totalMs: 10_000 };

export function startWorld(
  t: Teardown,
  ports: readonly number[],
  options: Partial<EngineOptions> = {},
): World {
  const engine = createHttpEngine({
    allowLoopback: ports.map((port) => `127.0.0.1:${port}`),
    poolsMax: 50,
    connectionsPerOrigin: 0,
    ...options,
  });
  t.teardown(() => engine.close());
  const { signal } = new AbortController();
  const get = (url: string, own: Partial<HttpRequest> = {}): Promise<HttpAnswer> =>
    engine.send(
      {
        url: new URL(url),
        method: 'GET',
        headers: [['user-agent', 'test']],
        egress: { id: 'direct' },
        timeouts: TIMEOUTS,
        maxBytes: 1_000_000,
        http2: false,
        ...own,
      },
      signal,
    );
  return { engine, get, failing };

  async function failing(url: string, own?: Partial<HttpRequest>): Promise<HttpFailure> {
    const error: unknown = await get(url, own).then(
      ({ status }) => new Error(`answered with status ${status}`),
      (reason: unknown) => reason,
    );
    if (error instanceof HttpFailure) return error;
    throw error;
  }
}
