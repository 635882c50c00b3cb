/**
 * Ports for what must know its own beforehand, or comes back to it after a kill. They are below those that a system gives
 * to connections that go out, one of which might come between two lives of a server. Tests run side by side in processes
 * of their own, so each block is claimed by listening on the last of its ports.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { allPorts, demoSitePort, planPorts, prometheusPort } from '../../src/local/layout.ts';
import type { Teardown } from './nats-server.ts';

const HTTP_PORT = 8080;
const FIRST = 10_000;
const END = 32_000;
/** Neighbours that anybody may use as he likes, and the one that claims the block. */
const NEIGHBOURS = 10;

/** All that a local cluster takes, wherever it is put. */
const CLUSTER = [
  ...allPorts(planPorts({ portBase: FIRST, nodes: 3, httpPort: HTTP_PORT })),
  ...[demoSitePort(FIRST), prometheusPort(FIRST)],
].map((port) => port - FIRST);
const OFFSETS = [...new Set([...CLUSTER, ...Array.from({ length: NEIGHBOURS + 1 }, (_, n) => n)])];
const BASES = planBases();

/** A port base for a cluster; it and the nine ports after it are free for anything else. Given back with the test. */
export async function claimPorts(t: Teardown): Promise<number> {
  const first = Math.floor(Math.random() * BASES.length);
  for (const base of [...BASES.slice(first), ...BASES.slice(0, first)]) {
    const claim = await listen(base + NEIGHBOURS);
    if (!claim) continue;
    if (await areFree(OFFSETS.filter((offset) => offset !== NEIGHBOURS).map((offset) => base + offset))) {
      claim.unref();
      t.teardown(() => claim.close());
      return base;
    }
    await close(claim);
  }
  throw new Error('no free block of ports');
}

/** Such that no block has a port of another. */
function planBases(): number[] {
  const bases: number[] = [];
  const taken = new Set<number>();
  for (let base = FIRST; base + Math.max(...OFFSETS) < END; base += 1) {
    const ports = OFFSETS.map((offset) => base + offset);
    if (ports.some((port) => taken.has(port))) continue;
    for (const port of ports) taken.add(port);
    bases.push(base);
  }
  return bases;
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const servers = (await Promise.all(ports.map(listen))).filter((server) => server !== undefined);
  await Promise.all(servers.map(close));
  return servers.length === ports.length;
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
