/** The fake proxy that speaks SOCKS5 (RFC 1928), with user name and password (RFC 1929). */
import { createServer, type Server, type Socket } from 'node:net';
import { join, type Address, type ProxyDesk } from './proxy-desk.ts';

const HANDSHAKE_MAX_MS = 10_000;
const NO_LOGIN = 0x00;
const LOGIN = 0x02;
const NO_METHOD = 0xff;
const OK = 0x00;
const UNREACHABLE = 0x04;
const UNSUPPORTED = 0x07;

export function createSocksProxy(desk: ProxyDesk, onRefuse: () => void): Server {
  return createServer((client) => {
    client.setTimeout(HANDSHAKE_MAX_MS, () => client.destroy());
    serve(desk, client, onRefuse).catch(() => client.destroy());
  });
}

async function serve(desk: ProxyDesk, client: Socket, onRefuse: () => void): Promise<void> {
  const [version = 0, methodCount = 0] = await take(client, 2);
  const methods = await take(client, methodCount);
  if (version !== 5) return void client.destroy();
  const wanted = desk.credentials || desk.behaviour() === '407' ? LOGIN : NO_LOGIN;
  if (!methods.includes(wanted)) {
    desk.turnAway({ method: 'SOCKS5', target: '' });
    return void client.end(Buffer.from([5, NO_METHOD]));
  }
  client.write(Buffer.from([5, wanted]));
  if (wanted === LOGIN && !(await login(desk, client))) return;

  const target = await readRequest(client);
  if (!target) return void client.end(answer(UNSUPPORTED));
  client.setTimeout(0);
  const deed = await desk.treat({ method: 'SOCKS5', target: `${target.host}:${target.port}` }, client);
  if (deed === 'pass') await open(desk, client, target);
  if (deed === '407' || deed === '502') client.end(answer(UNREACHABLE));
  if (deed === 'reset' || deed === 'refuse') client.resetAndDestroy();
  if (deed === 'refuse') onRefuse();
}

async function open(desk: ProxyDesk, client: Socket, target: Address): Promise<void> {
  const out = await desk.dial(target);
  if (!out) return void client.end(answer(UNREACHABLE));
  client.write(answer(OK));
  join(client, out);
}

/** True when the client is known; one that is not has been told. */
async function login(desk: ProxyDesk, client: Socket): Promise<boolean> {
  const [, userBytes = 0] = await take(client, 2);
  const username = (await take(client, userBytes)).toString();
  const [passwordBytes = 0] = await take(client, 1);
  const password = (await take(client, passwordBytes)).toString();
  const { credentials } = desk;
  const known =
    desk.behaviour() !== '407' && credentials?.username === username && credentials.password === password;
  if (!known) desk.turnAway({ method: 'SOCKS5', target: '' });
  client[known ? 'write' : 'end'](Buffer.from([1, known ? OK : 1]));
  return known;
}

/** Where the client wants to go; undefined for what this proxy cannot do. */
async function readRequest(client: Socket): Promise<Address | undefined> {
  const [, command, , kind] = await take(client, 4);
  if (command !== 1) return undefined;
  const host = await readHost(client, kind);
  const port = (await take(client, 2)).readUInt16BE();
  return host === undefined ? undefined : { host, port };
}

async function readHost(client: Socket, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return [...(await take(client, 4))].join('.');
  if (kind !== 3) return undefined;
  const [length = 0] = await take(client, 1);
  return (await take(client, length)).toString();
}

function answer(code: number): Buffer {
  return Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** Exactly so many bytes; what follows them stays with the socket. */
async function take(client: Socket, bytes: number): Promise<Buffer> {
  if (bytes === 0) return Buffer.alloc(0);
  for (;;) {
    const found = client.read(bytes) as Buffer | null;
    if (found?.length === bytes) return found;
    if (found || client.destroyed || client.readableEnded) throw new Error('the client left');
    await new Promise<void>((resolve) => {
      const look = (): void => {
        client.off('readable', look).off('close', look).off('end', look);
        resolve();
      };
      client.on('readable', look).on('close', look).on('end', look);
    });
  }
}
