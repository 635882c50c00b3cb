/**
 * Sends one request through one egress and brings back one answer, whatever the other side does: redirects, robots,
 * politeness and meaning are for others. What is no answer is an `HttpFailure`, with the code that says whose fault it was.
 */
import { createSecureContext, rootCertificates } from 'node:tls';
import type { ProxyAddress } from '../domain/egress.ts';
import { exchange } from './exchange.ts';
import { createAddressGuard, type Resolve } from './guarded-lookup.ts';
import { HttpFailure } from './http-failure.ts';
import { createPools } from './pools.ts';
import { createSocketRegister } from './socket-register.ts';

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  /** Sent in this order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | string | undefined;
  readonly egress: { readonly id: string; readonly address?: ProxyAddress | undefined };
  readonly timeouts: HttpTimeouts;
  /** Of the body, after decompression. */
  readonly maxBytes: number;
  /** Where the target speaks it; plain http never does. */
  readonly http2: boolean;
  /** Called when it has a connection and is being written to it. */
  readonly onSent?: (() => void) | undefined;
}

export interface HttpTimeouts {
  /** Until the connection stands, through the proxy and with TLS. */
  readonly connectMs: number;
  /** From the request to the end of the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of the body. */
  readonly bodyMs: number;
  /** From beginning to end. */
  readonly totalMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly setCookie: readonly string[];
  /** Without its content coding. */
  readonly body: Buffer;
  /** Of the body, as it came. */
  readonly bytesReceived: number;
  readonly httpVersion: '1.1' | '2';
  readonly timing: {
    /** Absent if a connection was there already. */
    readonly connectMs?: number;
    readonly firstByteMs: number;
    readonly totalMs: number;
  };
}

export interface EngineOptions {
  /** Exact `ip:port` that may be fetched although they are not on the public internet. */
  readonly allowLoopback: readonly string[];
  /** Only for addresses that the configuration names: nobody else's word leads there. */
  readonly anyAddress?: boolean | undefined;
  /** Pools of connections that are kept; idle ones beyond that are closed. */
  readonly poolsMax: number;
  /** Connections at once to one origin through one egress; 0 = no limit. */
  readonly connectionsPerOrigin: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs?: number | undefined;
  readonly headersMaxBytes?: number | undefined;
  /** Certificates in PEM that are trusted besides the usual ones. */
  readonly ca?: string | undefined;
  /** How names become addresses; the system's way unless given. */
  readonly resolve?: Resolve | undefined;
}

export interface HttpEngine {
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  stats(): { readonly pools: number; readonly sockets: number; readonly inFlight: number };
  /** Connections through this egress are not used again; what is under way on them may end. */
  drop(egress: string): void;
  /** Ends what is under way as CANCELLED. No socket is left after it. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 4000;
const HEADERS_MAX_BYTES = 64 * 1024;

/** Of the connection, not of the request; some of them would end an HTTP/2 session or tell the target our proxy login. */
const NOT_OURS_TO_SEND: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

export function createHttpEngine(options: EngineOptions): HttpEngine {
  const sockets = createSocketRegister();
  const guard = createAddressGuard(
    options.allowLoopback,
    options.resolve,
    options.anyAddress === true ? () => false : undefined,
  );
  const secureContext = createSecureContext(
    options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] },
  );
  const pools = createPools(
    { guard, sockets, secureContext },
    {
      poolsMax: options.poolsMax,
      connectionsPerOrigin: options.connectionsPerOrigin,
      keepAliveMs: options.keepAliveMs ?? KEEP_ALIVE_MS,
      headersMaxBytes: options.headersMaxBytes ?? HEADERS_MAX_BYTES,
    },
  );
  let inFlight = 0;
  let closing: Promise<void> | undefined;

  return {
    send,
    drop: (egress) => pools.drop(egress),
    stats: () => ({ pools: pools.size, sockets: sockets.size, inFlight }),
    close: () => (closing ??= close()),
  };

  async function send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    if (closing || signal.aborted) {
      throw new HttpFailure('CANCELLED', `${request.url.host}: the request was cancelled`, { sent: false });
    }
    checkRequest(request);
    const lane = pools.lane({
      egress: request.egress.id,
      proxy: request.egress.address,
      origin: request.url.origin,
      http2: request.http2,
    });
    lane.busy += 1;
    inFlight += 1;
    try {
      return await exchange(lane, request, signal);
    } finally {
      lane.busy -= 1;
      inFlight -= 1;
      pools.rest();
    }
  }

  async function close(): Promise<void> {
    sockets.endDialling();
    await pools.destroy(new HttpFailure('CANCELLED', 'the engine was closed', { sent: true }));
    await sockets.empty();
  }
}

/** Throws for what must not be sent, whoever would send it. */
export function checkRequest({
  url,
  method,
  headers,
}: Pick<HttpRequest, 'url' | 'method' | 'headers'>): void {
  const problem =
    url.protocol !== 'http:' && url.protocol !== 'https:'
      ? `only http and https can be fetched, not ${url.protocol}`
      : url.username !== '' || url.password !== ''
        ? 'the URL has a user and password in it'
        : method === 'CONNECT'
          ? 'CONNECT is not a request for a page'
          : headerProblem(headers);
  if (problem !== undefined) throw new HttpFailure('INVALID', problem, { sent: false });
}

function headerProblem(headers: HttpRequest['headers']): string | undefined {
  for (const [name] of headers) {
    if (NOT_OURS_TO_SEND.has(name.toLowerCase())) return `the header ${name.toLowerCase()} cannot be set`;
  }
  return undefined;
}
