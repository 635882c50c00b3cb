/**
 * The supervisor's control socket: one request per connection, as a line of JSON, answered by lines of JSON. Only the
 * holder of the home's lock listens, so a socket file that is already there is a dead one's.
 */
import { chmodSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { asFailure } from '../domain/failure.ts';
import { openSocketFolder } from './home.ts';
import type { Layout } from './layout.ts';
import { packFailure, parseControlRequest, type ControlReply, type ControlRequest } from './messages.ts';
import type { Report } from './progress.ts';
import type { ClusterState } from './state.ts';

export interface ControlHandlers {
  status(): ClusterState;
  /** Answers when the start has ended; rejects when it failed. */
  ready(report: Report): Promise<ClusterState>;
  /** Answers when everything has stopped. */
  stop(report: Report): Promise<ClusterState>;
  /** Answers when they serve; rejects when one of them does not. */
  addWorkers(count: number): Promise<ClusterState>;
  letGo(name: string): ClusterState;
}

export interface ControlServer {
  /** Answers what was asked, then ends. */
  close(): Promise<void>;
}

const REQUEST_MAX_BYTES = 4_096;
const CLIENTS_MAX = 64;
const FAREWELL_MAX_MS = 1_000;

export async function serveControl(
  { home, socket: path }: Layout,
  handlers: ControlHandlers,
): Promise<ControlServer> {
  const clients = new Set<Socket>();
  const answers = new Set<Promise<void>>();
  if (dirname(path) !== home) openSocketFolder(dirname(path));
  rmSync(path, { force: true });
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => undefined); // a client that went away needs no answer
    readRequest(client, (request) => {
      const answer = respond(client, request).finally(() => answers.delete(answer));
      answers.add(answer);
    });
  });
  server.maxConnections = CLIENTS_MAX;
  // The socket is never open to others, not even for the instant before a chmod.
  const mask = process.umask(0o077);
  try {
    server.listen(path);
    await once(server, 'listening');
  } finally {
    process.umask(mask);
  }
  chmodSync(path, 0o600);

  return {
    async close() {
      server.close();
      await Promise.all(answers);
      const cutOff = setTimeout(() => {
        for (const client of clients) client.destroy();
      }, FAREWELL_MAX_MS);
      await Promise.all(
        [...clients].map((client) => new Promise((resolve) => client.once('close', resolve))),
      );
      clearTimeout(cutOff);
    },
  };

  async function respond(client: Socket, request: ControlRequest | undefined): Promise<void> {
    const send = (reply: ControlReply): void => {
      if (client.writable) client.write(`${JSON.stringify(reply)}\n`);
    };
    send({ type: 'heard' });
    const report: Report = (progress) => send({ type: 'progress', progress });
    try {
      send({ type: 'state', state: await handle(request, report) });
    } catch (error) {
      send({ type: 'failed', failure: packFailure(asFailure(error)) });
    }
    client.end();
  }

  async function handle(request: ControlRequest | undefined, report: Report): Promise<ClusterState> {
    switch (request?.op) {
      case 'status':
        return handlers.status();
      case 'ready':
        return handlers.ready(report);
      case 'stop':
        return handlers.stop(report);
      case 'add-workers':
        return handlers.addWorkers(request.count);
      case 'let-go':
        return handlers.letGo(request.name);
      case undefined:
        throw new Error('this supervisor does not know that request');
    }
  }
}

function readRequest(client: Socket, heard: (request: ControlRequest | undefined) => void): void {
  let text = '';
  client.setEncoding('utf8').on('data', (part) => {
    text += String(part);
    const end = text.indexOf('\n');
    if (end < 0 && text.length <= REQUEST_MAX_BYTES) return;
    client.removeAllListeners('data').resume();
    heard(end < 0 ? undefined : parseControlRequest(text.slice(0, end)));
  });
}
