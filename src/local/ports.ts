/** Whether the ports of a cluster are free, and who has them otherwise. */
import { createServer, connect } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { allPorts, type ClusterPorts } from './layout.ts';

export interface BusyPort {
  readonly port: number;
  /** For people: "nats-server 2.15.1 (prod-1)", "another program". */
  readonly who: string;
}

const HOST = '127.0.0.1';
const GREETING_MAX_MS = 300;
const GREETING_MAX_BYTES = 65_536;

export async function findBusyPorts(ports: readonly number[]): Promise<BusyPort[]> {
  const found = await Promise.all(ports.map(examine));
  return found.filter((busy) => busy !== undefined);
}

export async function refuseBusyPorts(ports: ClusterPorts): Promise<void> {
  const busy = await findBusyPorts(allPorts(ports));
  if (busy.length === 0) return;
  const said = busy.map(({ port, who }) => `port ${port} is taken by ${who}`);
  const onlyHttp = busy.every(({ port }) => port === ports.http);
  const base = ports.client[0] ?? 0;
  throw new Failure('CONFLICT', said.join('; '), {
    hint: `Stop it, or move this cluster: --port-base ${base < 60_000 ? base + 1_000 : base - 1_000}${onlyHttp ? ' (or another --http-port)' : ''}`,
  });
}

async function examine(port: number): Promise<BusyPort | undefined> {
  const greeting = await readGreeting(port);
  if (greeting !== undefined) return { port, who: describe(greeting) };
  const error = await tryBind(port);
  if (error === undefined) return undefined;
  return { port, who: error === 'EACCES' ? 'the system: it needs special rights' : 'another program' };
}

/** What a server on that port says first; undefined when nobody listens. Binding alone misses some listeners on macOS. */
function readGreeting(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let listening = false;
    let text = '';
    const socket = connect({ host: HOST, port });
    const timer = setTimeout(() => socket.destroy(), GREETING_MAX_MS);
    socket.setEncoding('utf8');
    socket.on('connect', () => void (listening = true));
    socket.on('data', (part) => {
      text += String(part);
      if (text.includes('\n') || text.length > GREETING_MAX_BYTES) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(listening ? text : undefined);
    });
  });
}

function describe(greeting: string): string {
  const json = /^INFO (\{.*\})/.exec(greeting)?.[1];
  if (json === undefined) return 'another program';
  try {
    const { version, server_name } = JSON.parse(json) as Record<string, unknown>;
    return `nats-server ${String(version)} (${String(server_name)})`;
  } catch {
    return 'a NATS server';
  }
}

function tryBind(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'EADDRINUSE'));
    server.listen({ host: HOST, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
