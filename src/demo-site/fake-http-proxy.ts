/** The fake proxy that speaks HTTP: requests in absolute form, and CONNECT. */
import { createServer, request as send, type IncomingMessage, type Server } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { join, type Address, type ProxyDesk } from './proxy-desk.ts';

type Say = (status: '407' | '502') => void;

/** `onRefuse` is told when the proxy has to stop listening. */
export function createHttpProxy(desk: ProxyDesk, onRefuse: () => void): Server {
  /** True when the use may pass; everything else is done here. */
  async function admit(request: IncomingMessage, { host, port }: Address, say: Say): Promise<boolean> {
    const use = { method: request.method ?? '', target: `${host}:${port}` };
    if (!isKnown(request, desk)) {
      desk.turnAway(use);
      say('407');
      return false;
    }
    const deed = await desk.treat(use, request.socket);
    if (deed === '407' || deed === '502') say(deed);
    if (deed === 'reset' || deed === 'refuse') request.socket.resetAndDestroy();
    if (deed === 'refuse') onRefuse();
    return deed === 'pass';
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseUrl(request.url ?? '');
    if (!target) return void response.writeHead(400).end('absolute form, please');
    const say: Say = (status) => sayResponse(response, status);
    if (!(await admit(request, target, say))) return;
    const found = desk.locate(target);
    if (found) forward({ request, response, found, desk });
    else say('502');
  }

  async function tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const target = parseAuthority(request.url ?? '');
    if (!target) return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const say: Say = (status) => sayTunnel(client, status);
    if (!(await admit(request, target, say))) return;
    const out = await desk.dial(target);
    if (out) {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) out.write(head);
      join(client, out);
    } else say('502');
  }

  const server = createServer((request, response) => void pass(request, response));
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    void tunnel(request, client, head);
  });
  return server;
}

const WORDS = { 407: 'Proxy Authentication Required', 502: 'Bad Gateway' } as const;
const CHALLENGE = 'Basic realm="demo"';

function sayResponse(response: ServerResponse, status: '407' | '502'): void {
  response.writeHead(Number(status), status === '407' ? { 'proxy-authenticate': CHALLENGE } : {});
  response.end(WORDS[status]);
}

function sayTunnel(client: Socket, status: '407' | '502'): void {
  const challenge = status === '407' ? `proxy-authenticate: ${CHALLENGE}\r\n` : '';
  client.end(
    `HTTP/1.1 ${status} ${WORDS[status]}\r\n${challenge}content-length: 0\r\nconnection: close\r\n\r\n`,
  );
}

function isKnown({ headers }: IncomingMessage, { credentials }: ProxyDesk): boolean {
  if (!credentials) return true;
  const { username, password } = credentials;
  const expected = Buffer.from(`${username}:${password}`).toString('base64');
  return headers['proxy-authorization'] === `Basic ${expected}`;
}

function parseUrl(url: string): Address | undefined {
  if (!url.startsWith('http://') || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  return { host: hostname, port: port === '' ? 80 : Number(port) };
}

function parseAuthority(text: string): Address | undefined {
  const found = /^([^:]+):(\d{1,5})$/.exec(text);
  return found ? { host: found[1] ?? '', port: Number(found[2]) } : undefined;
}

interface Forwarding {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly found: Address;
  readonly desk: ProxyDesk;
}

/** These concern one connection, not the message. */
const HOP = /^(connection|keep-alive|proxy-.*|transfer-encoding)$/i;

function forward({ request, response, found, desk }: Forwarding): void {
  const { pathname, search } = new URL(request.url ?? '');
  const localAddress = desk.outAddress();
  const out = send({
    ...found,
    ...(localAddress === undefined ? {} : { localAddress }),
    agent: false,
    headers: withoutHop(request.rawHeaders),
    method: request.method ?? 'GET',
    path: `${pathname}${search}`,
  });
  out.on('socket', desk.track);
  out.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, withoutHop(answer.rawHeaders));
    pipeline(answer, response, () => undefined);
  });
  out.on('error', () => {
    if (response.headersSent) response.destroy();
    else sayResponse(response, '502');
  });
  response.once('close', () => out.destroy());
  request.pipe(out);
}

function withoutHop(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !HOP.test(rawHeaders[index - (index % 2)] ?? ''));
}
