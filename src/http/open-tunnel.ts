/**
 * A way through a proxy to one target, for http targets as well: in a tunnel every answer is the target's own, so a
 * 502 of the proxy is never taken for one of the site. The proxy resolves the name.
 *
 * undici's ProxyAgent and Socks5ProxyAgent are not used: they say what went wrong in words only, show the password
 * when they are inspected, and turn ordered headers into an object.
 */
import { isIP, type Socket } from 'node:net';
import type { ProxyAddress } from '../domain/egress.ts';
import { addressBytes } from './guard-address.ts';
import { createSocketReader, type SocketReader } from './socket-reader.ts';

export interface Target {
  readonly host: string; // an IPv6 address without brackets
  readonly port: number;
}

/** The proxy answered, and the answer is no. `aboutTarget`: it says itself that the target is the reason. */
export class TunnelRefused extends Error {
  readonly aboutTarget: boolean;
  /** What it answered to CONNECT. */
  readonly status: number | undefined;

  constructor(message: string, aboutTarget: boolean, status?: number) {
    super(message);
    this.name = 'TunnelRefused';
    this.aboutTarget = aboutTarget;
    this.status = status;
  }
}

const HEAD_MAX_BYTES = 16 * 1024;

export function openTunnel(socket: Socket, proxy: ProxyAddress, target: Target): Promise<void> {
  return proxy.kind === 'socks5' ? openSocks(socket, proxy, target) : openConnect(socket, proxy, target);
}

async function openConnect(socket: Socket, proxy: ProxyAddress, { host, port }: Target): Promise<void> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, 'Proxy-Connection: keep-alive'];
  if (proxy.username !== undefined || proxy.password !== undefined) {
    const pair = `${proxy.username ?? ''}:${proxy.password?.reveal() ?? ''}`;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(pair).toString('base64')}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);

  const head = await createSocketReader(socket).takeUntil('\r\n\r\n', HEAD_MAX_BYTES);
  const status = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head)?.[1];
  if (status === undefined) throw new TunnelRefused('it does not speak HTTP', false);
  // A 502 or 504 may be the target's fault as well; only the proxy knows, and CONNECT has no word for it.
  if (!status.startsWith('2')) {
    throw new TunnelRefused(`it answered CONNECT with status ${status}`, false, Number(status));
  }
}

const VERSION = 5;
const NO_LOGIN = 0;
const LOGIN = 2;
const CONNECT = 1;
/** RFC 1928: the network cannot be reached, the host cannot, it refuses, the way is too long. */
const ABOUT_TARGET: ReadonlySet<number> = new Set([3, 4, 5, 6]);

async function openSocks(socket: Socket, proxy: ProxyAddress, target: Target): Promise<void> {
  const reader = createSocketReader(socket);
  const hasLogin = proxy.username !== undefined || proxy.password !== undefined;
  socket.write(Buffer.from(hasLogin ? [VERSION, 2, NO_LOGIN, LOGIN] : [VERSION, 1, NO_LOGIN]));
  const [version, method] = await reader.take(2);
  if (version !== VERSION) throw new TunnelRefused('it does not speak SOCKS5', false);
  if (method === LOGIN && hasLogin) await logIn(socket, reader, proxy);
  else if (method !== NO_LOGIN) throw new TunnelRefused('it offers no way to log in that we have', false);

  const port = Buffer.alloc(2);
  port.writeUInt16BE(target.port);
  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), socksAddress(target.host), port]));
  const [, reply = 0, , kind] = await reader.take(4);
  if (reply !== 0) throw new TunnelRefused(`it refused with SOCKS5 code ${reply}`, ABOUT_TARGET.has(reply));
  await reader.take((await boundLength(reader, kind)) + 2);
}

async function logIn(socket: Socket, reader: SocketReader, proxy: ProxyAddress): Promise<void> {
  const name = Buffer.from(proxy.username ?? '');
  const password = Buffer.from(proxy.password?.reveal() ?? '');
  if (name.length > 255 || password.length > 255) {
    throw new TunnelRefused('its user name or password is longer than SOCKS5 can say', false);
  }
  socket.write(
    Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([password.length]), password]),
  );
  const [, status] = await reader.take(2);
  if (status !== 0) throw new TunnelRefused('it refused the user name and password', false);
}

function socksAddress(host: string): Buffer {
  const bytes = addressBytes(host);
  if (bytes) return Buffer.from([bytes.length === 4 ? 1 : 4, ...bytes]);
  const name = Buffer.from(host);
  if (name.length > 255) throw new TunnelRefused('the name of the target is too long', true);
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}

/** The address that the proxy dialled from, which nobody needs. */
async function boundLength(reader: SocketReader, kind: number | undefined): Promise<number> {
  if (kind === 1) return 4;
  if (kind === 4) return 16;
  if (kind === 3) return (await reader.take(1))[0] ?? 0;
  throw new TunnelRefused('its answer cannot be read', false);
}
