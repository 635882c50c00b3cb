/**
 * The connection to NATS: reconnects for ever, with jitter, and refuses servers that lack what we build on.
 * The rest of the program asks `isUp()` before it trusts a publish: while disconnected the client accepts
 * publishes and acks, and drops them.
 */
import type { NatsConnectionImpl } from '@nats-io/nats-core/internal';
import { connect, credsAuthenticator, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Secret } from '../domain/secret.ts';
import { hideUrlSecrets } from '../domain/secret.ts';
import { Failure, messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import { isAtLeast, MIN_SERVER_VERSION } from '../domain/version.ts';

export interface NatsAccess {
  readonly url: readonly string[];
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
  readonly token?: Secret | undefined;
  readonly creds?: string | undefined;
  readonly nkey?: Secret | undefined;
  readonly tlsCa?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

export interface ConnectOptions {
  readonly access: NatsAccess;
  /** Shown by `nats server report connections`. */
  readonly name: string;
  readonly log: Log;
  /** An actor waits for its server until it is told to stop; a person at a terminal wants to know at once. */
  readonly whenUnreachable: 'wait' | 'fail';
  readonly stop?: AbortSignal;
}

export interface Connection {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  isUp(): boolean;
  /** Sends what `publisher/frames.ts` has made of so many messages; dropped while there is no connection, like any publish. */
  writeFrames(bytes: Uint8Array, messages: number): void;
  /** Called at each change; returns the undo. */
  onChange(listener: (up: boolean) => void): () => void;
  /** Called when it is about to end by our will, while there is still time to say something; returns the undo. */
  onClosing(listener: () => void): () => void;
  /** Says what there is to say before the end; `close()` does it too. */
  sayGoodbye(): Promise<void>;
  /** Resolves when the connection is over for good: with the reason, or undefined after `close()`. */
  readonly ended: Promise<Failure | undefined>;
  close(): Promise<void>;
}

const RECONNECT_MS = 250;
const RECONNECT_JITTER_MS = 750;
const FIRST_RETRY_MAX_MS = 5_000;
const CONNECT_TIMEOUT_MS = 4_000;
/** How long the last words may take to arrive. */
const GOODBYE_MS = 1_000;

export async function connectNats(options: ConnectOptions): Promise<Connection> {
  const nc = await openConnection(options);
  const refusal = refuseOldServer(nc);
  if (refusal) {
    await nc.close();
    throw refusal;
  }
  return watchConnection(nc, options.log);
}

async function openConnection(options: ConnectOptions): Promise<NatsConnection> {
  const { access, log } = options;
  const where = hideUrlSecrets(access.url.join(', '));
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await connect(clientOptions(options));
    } catch (error) {
      const failure = explainConnectError(error, where);
      if (options.whenUnreachable === 'fail' || failure.code !== 'UNAVAILABLE') throw failure;
      if (attempt === 0) log.warn('nats.unreachable', { where, reason: messageOf(error) });
    }
    const waitMs = Math.min(RECONNECT_MS * 2 ** attempt, FIRST_RETRY_MAX_MS) * (0.5 + Math.random() / 2);
    try {
      await delay(waitMs, undefined, options.stop ? { signal: options.stop } : {});
    } catch (cause) {
      throw new Failure('CANCELLED', `stopped while waiting for NATS at ${where}`, { cause });
    }
  }
}

function clientOptions({ access, name }: ConnectOptions): Parameters<typeof connect>[0] {
  const tls = {
    ...(access.tlsCa === undefined ? {} : { caFile: access.tlsCa }),
    ...(access.tlsCert === undefined ? {} : { certFile: access.tlsCert }),
    ...(access.tlsKey === undefined ? {} : { keyFile: access.tlsKey }),
  };
  return {
    servers: [...access.url],
    name,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    // Credentials are rotated while we run: go on asking rather than die at the second refusal.
    ignoreAuthErrorAbort: true,
    // Async stack traces cost a publish more than half of its time.
    noAsyncTraces: true,
    ...(access.user === undefined ? {} : { user: access.user }),
    ...(access.password === undefined ? {} : { pass: access.password.reveal() }),
    ...(access.token === undefined ? {} : { token: access.token.reveal() }),
    ...(access.creds === undefined ? {} : { authenticator: credsAuthenticator(readFileSync(access.creds)) }),
    ...(access.nkey === undefined
      ? {}
      : { authenticator: nkeyAuthenticator(new TextEncoder().encode(access.nkey.reveal())) }),
    // The client drops the scheme of a URL: without this, `tls://` would connect in the clear.
    ...(Object.keys(tls).length > 0 || access.url.some((url) => url.startsWith('tls://')) ? { tls } : {}),
  };
}

function explainConnectError(error: unknown, where: string): Failure {
  const text = messageOf(error);
  const kind = error instanceof Error ? error.name : '';
  if (kind === 'AuthorizationError' || kind === 'UserAuthenticationExpiredError') {
    return new Failure('REJECTED', `NATS at ${where} refused the credentials`, {
      cause: error,
      hint: 'Set nats.user and nats.password (or nats.token, nats.creds, nats.nkey) for this server.',
    });
  }
  return new Failure('UNAVAILABLE', `no NATS server answers at ${where}: ${text}`, {
    cause: error,
    hint: 'Start the local cluster with `trawl up`, or point nats.url (NATS_URL, --nats-url) at your server.',
  });
}

function refuseOldServer(nc: NatsConnection): Failure | undefined {
  const version = nc.info?.version ?? '0.0.0';
  if (isAtLeast(version, MIN_SERVER_VERSION)) return undefined;
  return new Failure(
    'REJECTED',
    `nats-server ${version} is too old: Trawl needs ${MIN_SERVER_VERSION} or newer`,
    {
      hint: 'Upgrade the server; nats/get-nats-server.sh fetches one that fits.',
    },
  );
}

async function watchConnection(nc: NatsConnection, log: Log): Promise<Connection> {
  const listeners = new Set<(up: boolean) => void>();
  const closers = new Set<() => void>();
  let up = true;
  let refusal: Failure | undefined;
  const change = (now: boolean): void => {
    if (now === up) return;
    up = now;
    for (const listener of listeners) listener(now);
  };

  const watching = (async () => {
    for await (const status of nc.status()) {
      switch (status.type) {
        case 'disconnect':
          log.warn('nats.disconnected', { server: status.server });
          change(false);
          break;
        case 'reconnect':
          refusal = refuseOldServer(nc);
          if (refusal) {
            await nc.close();
            return;
          }
          log.info('nats.reconnected', { server: status.server });
          change(true);
          break;
        case 'error':
          log.warn('nats.error', { reason: messageOf(status.error) });
          break;
        default: // pings, cluster gossip, lame-duck and slow-consumer notes change nothing for us
      }
    }
  })();

  const ended = nc.closed().then(async (error) => {
    await watching;
    change(false);
    if (refusal) return refusal;
    return error
      ? new Failure('UNAVAILABLE', `the connection to NATS ended: ${error.message}`, { cause: error })
      : undefined;
  });

  return {
    nc,
    js: jetstream(nc),
    jsm: await jetstreamManager(nc, { checkAPI: false }),
    isUp: () => up,
    writeFrames(bytes, messages) {
      if (nc.isClosed()) return;
      const { protocol } = nc as NatsConnectionImpl;
      protocol.outMsgs += messages;
      protocol.outBytes += bytes.length;
      protocol.sendCommand(bytes);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onClosing(listener) {
      closers.add(listener);
      return () => closers.delete(listener);
    },
    sayGoodbye,
    ended,
    async close() {
      await sayGoodbye();
      await nc.close();
      await ended;
    },
  };

  async function sayGoodbye(): Promise<void> {
    if (nc.isClosed() || closers.size === 0) return;
    for (const listener of closers) listener();
    if (up) await flush(nc);
  }
}

/** What was said has arrived, or nobody listens. */
async function flush(nc: NatsConnection): Promise<void> {
  const enough = new AbortController();
  const late = delay(GOODBYE_MS, undefined, { signal: enough.signal }).catch(() => undefined);
  await Promise.race([nc.flush().catch(() => undefined), late]);
  enough.abort();
}
