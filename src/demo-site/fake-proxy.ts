/**
 * A local proxy that behaves as told and records each use. It goes out from a loopback address of its own, so that
 * the demo site sees another client.
 */
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { createHttpProxy } from './fake-http-proxy.ts';
import { createSocksProxy } from './fake-socks-proxy.ts';
import { listen } from './listener.ts';
import type { Behaviour } from './proxy-behaviour.ts';
import {
  createProxyDesk,
  type Credentials,
  type Address,
  type ProxyDesk,
  type ProxyUse,
} from './proxy-desk.ts';

export interface FakeProxyOptions {
  readonly kind: 'http' | 'socks5';
  readonly behaviour?: Behaviour;
  readonly credentials?: Credentials;
  /** Such as 127.0.0.2. Systems with one loopback address only (macOS) go out from that one. */
  readonly outAddress?: string;
  /** Where names that are not of this machine lead; without it they lead nowhere. */
  readonly elsewhere?: Address;
  readonly port?: number;
}

export interface FakeProxy {
  readonly kind: 'http' | 'socks5';
  /** With the credentials, as `trawl proxies add` takes it. */
  readonly url: string;
  readonly port: number;
  /** Where it goes out from; undefined when it has no address of its own. */
  readonly outAddress: string | undefined;
  readonly log: readonly ProxyUse[];
  /** The first use, past or future, that passes. */
  until(test: (use: ProxyUse) => boolean): Promise<ProxyUse>;
  sockets(): number;
  /** From now on. What is open is cut off, unless the new behaviour lets it pass. */
  set(behaviour: Behaviour): Promise<void>;
  close(): Promise<void>;
}

export async function startFakeProxy(options: FakeProxyOptions): Promise<FakeProxy> {
  const { kind, behaviour = 'ok', credentials, elsewhere, port = 0 } = options;
  const outAddress = await findAddress(options.outAddress);
  const desk = createProxyDesk({ behaviour, credentials, elsewhere, outAddress: () => outAddress });
  const runner = await runProxy({ kind, desk, port });
  const login = credentials
    ? `${encodeURIComponent(credentials.username)}:${encodeURIComponent(credentials.password)}@`
    : '';
  return {
    kind,
    url: `${kind}://${login}127.0.0.1:${runner.port}`,
    port: runner.port,
    outAddress,
    get log() {
      return desk.uses();
    },
    until: (test) => desk.until(test),
    sockets: runner.sockets,
    set: runner.set,
    close: runner.close,
  };
}

export type ProxyRunner = Pick<FakeProxy, 'port'> & {
  readonly sockets: () => number;
  readonly set: (behaviour: Behaviour) => Promise<void>;
  readonly close: () => Promise<void>;
};

const SOCKETS_MAX = 4096;

/** Listens for a desk, and stops listening when the desk has to refuse. */
export async function runProxy({
  kind,
  desk,
  port,
}: {
  kind: 'http' | 'socks5';
  desk: ProxyDesk;
  port: number;
}): Promise<ProxyRunner> {
  const refuse = (): void => void stop();
  const server: Server = kind === 'http' ? createHttpProxy(desk, refuse) : createSocksProxy(desk, refuse);
  const listener = await listen(server, { host: '127.0.0.1', port, socketsMax: SOCKETS_MAX });

  async function stop(): Promise<void> {
    await listener.stop();
    await desk.drop();
  }

  if (desk.behaviour() === 'refuse') await stop();
  return {
    port: listener.port,
    sockets: () => listener.sockets() + desk.outSockets(),
    async set(behaviour) {
      desk.set(behaviour);
      if (behaviour === 'refuse') return stop();
      if (typeof behaviour === 'string' && behaviour !== 'ok') await listener.drop();
      await listener.resume();
    },
    close: stop,
  };
}

/** The address, when this machine has it. */
async function findAddress(address: string | undefined): Promise<string | undefined> {
  if (address === undefined) return undefined;
  const probe = createServer();
  try {
    probe.listen(0, address);
    await once(probe, 'listening');
    return address;
  } catch {
    return undefined;
  } finally {
    probe.close();
  }
}
