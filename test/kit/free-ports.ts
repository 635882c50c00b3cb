/** A port base whose ports are free: the local cluster takes a block of them at fixed distances. */
import { createServer } from 'node:net';
import { once } from 'node:events';

const OFFSETS = [0, 1, 2, 2000, 2001, 2002, 3858, 3866, 4000, 4001, 4002, 4868];

export async function findPortBase(): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    const base = 20_000 + Math.floor(Math.random() * 30_000);
    const free = await Promise.all(OFFSETS.map((offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
  throw new Error('no free block of ports found');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
