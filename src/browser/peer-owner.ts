/**
 * Whether a connection to a port of this machine was made by this user. Where the kernel tells (Linux), nobody else gets
 * through a port that the browser alone is meant to use; where it does not, the port is as open as any of this machine.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LOCAL = 1;
const REMOTE = 2;
const OWNER = 7;

export async function isOwnConnection({ remotePort, localPort }: Socket): Promise<boolean> {
  const user = process.getuid?.();
  if (user === undefined || remotePort === undefined || localPort === undefined) return user === undefined;
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => undefined);
    if (text === undefined) return table === TABLES[0];
    const owner = findOwner(text, portEnd(remotePort), portEnd(localPort));
    if (owner !== undefined) return owner === user;
  }
  return false;
}

function portEnd(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Of the other end: what is remote here is local there. */
function findOwner(table: string, local: string, remote: string): number | undefined {
  for (const line of table.split('\n')) {
    if (!line.includes(local)) continue;
    const fields = line.trim().split(/\s+/);
    if (fields[LOCAL]?.endsWith(local) === true && fields[REMOTE]?.endsWith(remote) === true)
      return Number(fields[OWNER]);
  }
  return undefined;
}
