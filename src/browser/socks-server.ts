/** The half of SOCKS5 (RFC 1928) that a browser needs of a proxy: no login, CONNECT only. */
import type { Socket } from 'node:net';
import type { Target } from '../http/open-tunnel.ts';
import { createSocketReader, type SocketReader } from '../http/socket-reader.ts';

export const REPLY = { ok: 0, refused: 2, unsupported: 7 } as const;

const VERSION = 5;
const NO_LOGIN = 0;
const CONNECT = 1;

export function sayReply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** Where the client wants to go; undefined: not anywhere that SOCKS5 could lead it to. */
export async function readTarget(client: Socket): Promise<Target | undefined> {
  const reader = createSocketReader(client);
  const [version, methods = 0] = await reader.take(2);
  if (version !== VERSION || methods === 0) throw new Error('not a client of SOCKS5');
  await reader.take(methods);
  client.write(Buffer.from([VERSION, NO_LOGIN]));
  const [, command, , kind] = await reader.take(4);
  const host = await readHost(reader, kind);
  if (host === undefined) return undefined;
  const port = (await reader.take(2)).readUInt16BE();
  return command === CONNECT ? { host, port } : undefined;
}

async function readHost(reader: SocketReader, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return [...(await reader.take(4))].join('.');
  if (kind === 3) {
    const [length = 0] = await reader.take(1);
    return length === 0 ? undefined : (await reader.take(length)).toString('latin1');
  }
  if (kind !== 4) return undefined;
  const groups = (await reader.take(16)).toString('hex').match(/.{4}/g) ?? [];
  // As a URL spells it, so that both can be compared.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
