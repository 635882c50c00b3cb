/**
 * The site that the tasks fetch: slow, forgetful and at times not there, as the seed wants it. An ordinary page fails
 * twice at most, so that whoever has retries left gets it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRandom } from '../random.ts';
import type { Teardown } from '../nats-server.ts';
import type { TaskKind } from './story.ts';

export interface Target {
  /** The address of the page of a task. */
  url(kind: TaskKind, number: number): string;
  hits(): number;
}

const RESETS = 0.04;
const UNAVAILABLE = 0.02;
const FAILURES_MAX = 2;
const DELAY_MS = { from: 5, to: 60 };

export async function startTarget(t: Teardown, seed: number): Promise<Target> {
  const visits = new Map<string, number>();
  let hits = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const visit = visits.get(path) ?? 0;
    visits.set(path, visit + 1);
    hits += 1;
    const [, kind, number] = path.split('/');
    const random = createRandom(seed + Number(number) * 31 + visit * 7_919);
    const delayMs = random.int(DELAY_MS.from, DELAY_MS.to);
    const luck = visit < FAILURES_MAX ? random.next() : 1;
    setTimeout(() => {
      if (kind === 'hopeless') response.writeHead(500).end();
      else if (luck < RESETS) request.socket.resetAndDestroy();
      else if (luck < RESETS + UNAVAILABLE) response.writeHead(503).end();
      else response.end(`page ${path}`);
    }, delayMs);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: (kind, number) => `http://127.0.0.1:${port}/${kind}/${number}`, hits: () => hits };
}
