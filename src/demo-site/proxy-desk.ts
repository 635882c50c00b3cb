/** What fake proxies of every kind have in common: whom they know, what they do to each use, how they reach out. */
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { endAll } from './listener.ts';
import { createWaiters } from './waiters.ts';
import { decideTreatment, type Behaviour, type Deed } from './proxy-behaviour.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** One request, or one tunnel, which may carry many requests. */
export interface ProxyUse {
  readonly seq: number;
  readonly startMs: number; // monotonic
  readonly atEpochMs: number;
  readonly method: string; // CONNECT, SOCKS5, or that of a request passed on
  readonly target: string; // host:port; empty when it was not told
  readonly deed: Deed | 'stranger'; // stranger = came without the right credentials
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ProxyDesk {
  readonly credentials: Credentials | undefined;
  uses(): readonly ProxyUse[];
  /** The first use, past or future, that passes. */
  until(test: (use: ProxyUse) => boolean): Promise<ProxyUse>;
  set(behaviour: Behaviour): void;
  behaviour(): Behaviour;
  /** Records a use by somebody who is not known. */
  turnAway(use: Pick<ProxyUse, 'method' | 'target'>): void;
  /** Decides about a use and records it; `gone` when the client did not wait for as long as the proxy took. */
  treat(use: Pick<ProxyUse, 'method' | 'target'>, client: Socket): Promise<Deed | 'gone'>;
  /** Where a target really is; undefined when it cannot be reached from here. */
  locate(target: Address): Address | undefined;
  /** The address to go out from. */
  outAddress(): string | undefined;
  /** Connects from there; undefined when that fails. */
  dial(target: Address): Promise<Socket | undefined>;
  /** Has a connection to a target ended with the others. */
  readonly track: (socket: Socket) => void;
  outSockets(): number;
  /** Ends all connections to targets. */
  drop(): Promise<void>;
}

export interface DeskOptions {
  readonly behaviour: Behaviour;
  readonly credentials: Credentials | undefined;
  readonly outAddress: () => string | undefined;
  /** Where every name leads that is not of this machine; without it such names lead nowhere. */
  readonly elsewhere: Address | undefined;
}

const USES_MAX = 20_000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3})$/;

export function createProxyDesk(options: DeskOptions): ProxyDesk {
  const { credentials, outAddress, elsewhere } = options;
  const outSockets = new Set<Socket>();
  const waiters = createWaiters<ProxyUse>();
  let { behaviour } = options;
  let uses: ProxyUse[] = [];
  let seq = 0;
  let sinceSet = 0;

  function record({ method, target, deed }: Pick<ProxyUse, 'method' | 'target' | 'deed'>): void {
    seq += 1;
    const use = { seq, startMs: performance.now(), atEpochMs: Date.now(), method, target, deed };
    uses.push(use);
    if (uses.length >= USES_MAX * 2) uses = uses.slice(-USES_MAX);
    waiters.tell(use);
  }

  // A proxy that reached beyond this machine would be an open one.
  function locate({ host, port }: Address): Address | undefined {
    return LOOPBACK.test(host) ? { host: host === 'localhost' ? '127.0.0.1' : host, port } : elsewhere;
  }

  function track(socket: Socket): void {
    outSockets.add(socket);
    socket.once('close', () => outSockets.delete(socket));
  }

  return {
    credentials,
    outAddress,
    locate,
    track,
    uses: () => uses,
    until: (test) => waiters.until(uses, test),
    behaviour: () => behaviour,
    set(next) {
      behaviour = next;
      sinceSet = 0;
    },
    turnAway: (use) => record({ ...use, deed: 'stranger' }),
    async treat(use, client) {
      sinceSet += 1;
      const { deed, delayMs } = decideTreatment(behaviour, sinceSet);
      record({ ...use, deed });
      return delayMs === 0 || (await stays(client, delayMs)) ? deed : 'gone';
    },
    dial(target) {
      const place = locate(target);
      if (!place) return Promise.resolve(undefined);
      const localAddress = outAddress();
      const socket = connect({ ...place, ...(localAddress === undefined ? {} : { localAddress }) });
      track(socket);
      socket.on('error', () => undefined);
      return new Promise((resolve) => {
        socket.once('close', () => resolve(undefined));
        socket.once('connect', () => resolve(socket));
      });
    },
    outSockets: () => outSockets.size,
    drop: () => endAll(outSockets),
  };
}

/** Waits; false when the client left meanwhile. No timer outlives the client. */
function stays(client: Socket, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      client.off('close', left);
      resolve(true);
    }, ms);
    const left = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    client.once('close', left);
    if (client.destroyed) left();
  });
}

/** Joins two connections; when one is gone the other goes too. */
export function join(client: Socket, out: Socket): void {
  client.pipe(out);
  out.pipe(client);
  client.once('close', () => out.destroy());
  out.once('close', () => client.destroy());
  // It may have left while the target was being reached.
  if (client.destroyed) out.destroy();
}
