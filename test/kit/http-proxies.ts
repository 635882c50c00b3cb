/** Proxies that do what a test asks of them: http with CONNECT, and SOCKS5. */
import { connect, type Socket } from 'node:net';
import type { ProxyAddress, ProxyKind } from '../../src/domain/egress.ts';
import { Secret } from '../../src/domain/secret.ts';
import { startRaw } from './http-world.ts';
import type { Teardown } from './nats-server.ts';

export const CANARY = 'canary-7f3a-secret';

export interface TestProxy {
  readonly port: number;
  readonly address: ProxyAddress;
  /** The targets that it was asked for, as `host:port`, and who asked. */
  readonly asked: string[];
  readonly logins: string[];
}

export interface ProxyBehaviour {
  /** Answered instead of opening a way: a status for CONNECT, a code for SOCKS5. */
  readonly refuse?: number;
  readonly needsLogin?: boolean;
  /** Where everything leads, whatever the name: names of tests exist nowhere else. */
  readonly targetPort: number;
}

export async function startTestProxy(
  t: Teardown,
  kind: Exclude<ProxyKind, 'https'>,
  behaviour: ProxyBehaviour,
): Promise<TestProxy> {
  const asked: string[] = [];
  const logins: string[] = [];
  const serve = kind === 'http' ? serveConnect : serveSocks;
  const port = await startRaw(t, (socket) => serve(socket, behaviour, { asked, logins }));
  const login = behaviour.needsLogin ? { username: 'user', password: new Secret(CANARY) } : {};
  return { port, address: { kind, host: '127.0.0.1', port, ...login }, asked, logins };
}

interface Notes {
  readonly asked: string[];
  readonly logins: string[];
}

export function serveConnect(socket: Socket, behaviour: ProxyBehaviour, { asked, logins }: Notes): void {
  let head = '';
  socket.on('data', read);

  function read(chunk: Buffer): void {
    head += chunk.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    socket.off('data', read);
    asked.push(/^CONNECT (\S+)/.exec(head)?.[1] ?? head);
    const login = /^proxy-authorization: basic (\S+)/im.exec(head)?.[1];
    if (login !== undefined) logins.push(Buffer.from(login, 'base64').toString());
    const status =
      behaviour.refuse ?? (behaviour.needsLogin && logins.at(-1) !== `user:${CANARY}` ? 407 : undefined);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\nno`);
      return;
    }
    relay(socket, behaviour.targetPort, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  }
}

function serveSocks(socket: Socket, behaviour: ProxyBehaviour, { asked, logins }: Notes): void {
  let step: 'greet' | 'login' | 'ask' = 'greet';
  socket.on('data', read);

  function read(chunk: Buffer): void {
    if (step === 'greet') {
      step = behaviour.needsLogin ? 'login' : 'ask';
      socket.write(Buffer.from([5, behaviour.needsLogin ? 2 : 0]));
    } else if (step === 'login') {
      const nameLength = chunk[1] ?? 0;
      const login = `${chunk.toString('utf8', 2, 2 + nameLength)}:${chunk.toString('utf8', 3 + nameLength)}`;
      logins.push(login);
      step = 'ask';
      socket.write(Buffer.from([1, login === `user:${CANARY}` ? 0 : 1]));
    } else {
      socket.off('data', read);
      asked.push(targetOf(chunk));
      const code = behaviour.refuse ?? 0;
      const reply = Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
      if (code !== 0) socket.end(reply);
      else relay(socket, behaviour.targetPort, () => socket.write(reply));
    }
  }
}

function targetOf(request: Buffer): string {
  const kind = request[3];
  const port = request.readUInt16BE(request.length - 2);
  if (kind === 3) return `${request.toString('utf8', 5, request.length - 2)}:${port}`;
  const bytes = request.subarray(4, request.length - 2);
  return `${kind === 1 ? bytes.join('.') : bytes.toString('hex')}:${port}`;
}

function relay(client: Socket, port: number, onOpen: () => void): void {
  const upstream = connect(port, '127.0.0.1', () => {
    onOpen();
    client.pipe(upstream).pipe(client);
  });
  upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
}
