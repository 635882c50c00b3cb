/** The HTTP page of an actor: `/healthz`, `/readyz`, `/metrics`, as probes and Prometheus expect them, and its own. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Failure, messageOf } from '../domain/failure.ts';

export interface Health {
  readonly ok: boolean;
  readonly reason: string;
}

export interface PageOptions {
  readonly host: string;
  readonly port: number; // 0 = any free one
  readonly healthy: () => Health;
  readonly ready: () => Health;
  readonly metrics: () => Promise<{ contentType: string; text: string }>;
  /** Further pages, by path. */
  readonly others?: () => Readonly<Record<string, () => Promise<Answer>>>;
}

export interface Page {
  readonly url: string;
  close(): Promise<void>;
}

export async function servePage(options: PageOptions): Promise<Page> {
  const server = createServer(
    { requestTimeout: 15_000, headersTimeout: 5_000, maxHeaderSize: 8_192 },
    (request, response) => {
      answer(request.method ?? '', request.url ?? '/', options).then(
        ({ status, contentType, text }) => {
          response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
        },
        (error: unknown) => {
          response
            .writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
            .end(`${messageOf(error)}\n`);
        },
      );
    },
  );
  server.maxConnections = 256;
  await listen(server, options);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

async function answer(method: string, url: string, options: PageOptions): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET');
  const path = url.split('?')[0] ?? '';
  const others = options.others?.() ?? {};
  switch (path) {
    case '/healthz':
      return health(options.healthy());
    case '/readyz':
      return health(options.ready());
    case '/metrics':
      return { status: 200, ...(await options.metrics()) };
    default: {
      const other = Object.hasOwn(others, path) ? others[path] : undefined;
      if (other) return other();
      return plain(404, ['pages: /healthz /readyz /metrics', ...Object.keys(others)].join(' '));
    }
  }
}

function health({ ok, reason }: Health): Answer {
  return plain(ok ? 200 : 503, reason);
}

function plain(status: number, text: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', text: `${text}\n` };
}

async function listen(server: Server, { host, port }: PageOptions): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    throw new Failure(
      'CONFLICT',
      `cannot serve the health and metrics page on ${host}:${port}: ${messageOf(cause)}`,
      {
        cause,
        hint: 'Choose another port with http.port (exporter) or http.actorPort (every other actor); 0 takes any free one.',
      },
    );
  }
}
