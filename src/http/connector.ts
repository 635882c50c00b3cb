/**
 * How a pool gets its connections: guard, dial, tunnel, TLS, all within one time limit. Where it breaks decides whose
 * fault it is: until the tunnel stands it is the proxy's, after that the target's.
 *
 *   dial    TCP to the target, or to the proxy (and TLS to an https proxy)
 *   tunnel  CONNECT or SOCKS5
 *   tls     with the target
 */
import { connect as dialTcp, isIP, type Socket } from 'node:net';
import { connect as wrapTls, type SecureContext, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { ProxyAddress } from '../domain/egress.ts';
import type { AddressGuard } from './guarded-lookup.ts';
import { codeOf, describe, HttpFailure } from './http-failure.ts';
import { openTunnel, TunnelRefused, type Target } from './open-tunnel.ts';
import type { SocketRegister } from './socket-register.ts';

export interface ConnectorParts {
  readonly guard: AddressGuard;
  readonly sockets: SocketRegister;
  readonly secureContext: SecureContext;
}

export interface ConnectorOptions {
  readonly egress: string;
  readonly proxy: ProxyAddress | undefined;
  readonly http2: boolean;
  /** Asked for each connection: the limit comes with the request that makes it necessary. */
  connectMs(): number;
  onOpen(protocol: string | false | null): void;
}

type Phase = 'dial' | 'tunnel' | 'tls';

export function createConnector(parts: ConnectorParts, options: ConnectorOptions): buildConnector.connector {
  const { guard, sockets, secureContext } = parts;
  const { proxy } = options;
  // Kept per pool, so that a ticket never tells a site that two egresses are the same visitor.
  let ticket: Buffer | undefined;

  return ({ hostname, protocol, port }, done) => {
    const isTls = protocol === 'https:';
    const target = { host: hostname, port: Number(port) || (isTls ? 443 : 80) };
    void open(target, isTls).then(
      (socket) => {
        try {
          done(null, socket);
        } catch (error) {
          // Thrown by what undici does with its first request; here nobody else would catch it.
          socket.destroy(error as Error);
        }
      },
      (error: unknown) => done(error as Error, null),
    );
  };

  async function open(target: Target, isTls: boolean): Promise<Socket> {
    if (proxy) guard.checkThroughProxy(target.host, target.port);
    else guard.checkLiteral(target.host, target.port);
    let phase: Phase = 'dial';
    let timedOut = false;
    let socket = sockets.add(dial(target));
    const timer = setTimeout(() => {
      timedOut = true;
      socket.destroy(new Error('no connection in time'));
    }, options.connectMs());
    try {
      await opened(socket, 'connect');
      if (proxy) {
        if (proxy.kind === 'https') await secure(proxy.host, ['http/1.1']);
        phase = 'tunnel';
        await openTunnel(socket, proxy, target);
      }
      phase = 'tls';
      if (isTls) {
        const tls = await secure(target.host, options.http2 ? ['h2', 'http/1.1'] : ['http/1.1'], ticket);
        tls.on('session', (session) => (ticket = session));
      }
      options.onOpen(isTls ? (socket as TLSSocket).alpnProtocol : null);
      sockets.handOver(socket);
      return socket;
    } catch (error) {
      socket.destroy();
      throw blame(error, { phase, timedOut, target });
    } finally {
      clearTimeout(timer);
    }

    async function secure(host: string, ALPNProtocols: string[], session?: Buffer): Promise<TLSSocket> {
      // TLS takes no address as the name of a server, yet `host` is what the certificate must be for.
      const names = { host, servername: isIP(host) === 0 ? host : '' };
      const tls = wrapTls({ ...names, socket, ALPNProtocols, secureContext, ...(session && { session }) });
      socket = sockets.wrap(socket, tls);
      await opened(tls, 'secureConnect');
      return tls;
    }
  }

  function dial({ host, port }: Target): Socket {
    // A proxy may live on a private address: a person put it there.
    const to = proxy ? { host: proxy.host, port: proxy.port } : { host, port, lookup: guard.lookupFor(port) };
    return dialTcp({ ...to, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
  }

  function blame(error: unknown, at: { phase: Phase; timedOut: boolean; target: Target }): HttpFailure {
    if (error instanceof HttpFailure) return error; // the guard's word
    const ofTarget = !proxy || at.phase === 'tls' || (error instanceof TunnelRefused && error.aboutTarget);
    const who = ofTarget ? at.target.host : `proxy ${options.egress}`;
    const what = at.timedOut ? 'no connection in time' : describe(error);
    const code = !ofTarget ? 'PROXY' : at.timedOut ? 'TIMEOUT' : 'NETWORK';
    const hint = CERTIFICATE.test(codeOf(error)) ? CERTIFICATE_HINT : undefined;
    const status = error instanceof TunnelRefused ? error.status : undefined;
    return new HttpFailure(code, `${who}: ${what}`, { cause: error, hint, sent: false, status });
  }
}

const KEEP_ALIVE_MS = 60_000;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/;
const CERTIFICATE_HINT =
  'Its certificate is not valid for this name, expired, or signed by somebody unknown.';

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on(event, ready).on('error', reject).on('close', closed);

    function ready(): void {
      socket.off(event, ready).off('error', reject).off('close', closed);
      resolve();
    }
    function closed(): void {
      reject(socket.errored ?? new Error('the connection was closed before it stood'));
    }
  });
}
