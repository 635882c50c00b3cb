/** Receives the batches of a webhook sink, and answers as it is told to. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Teardown } from './nats-server.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly items: readonly WebhookItem[];
}

export interface WebhookItem {
  readonly run: string;
  readonly task: string;
  readonly n: number;
  readonly item: { readonly key?: string; readonly n?: number; readonly bad?: boolean };
}

/** A status, or nothing at all: the connection is cut, after the batch was taken. */
export type Reply = number | 'cut';

export interface Receiver {
  readonly url: string;
  /** Every request that came. */
  readonly requests: readonly Received[];
  /** What was taken, by the key of the batch: the same key again is the same batch. */
  readonly taken: ReadonlyMap<string, Received>;
  /** Decides on each request; the number counts from 0. */
  answer: (request: Received, number: number) => Reply;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startReceiver(t: Teardown): Promise<Receiver> {
  const requests: Received[] = [];
  const taken = new Map<string, Received>();
  let port = 0;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { items } = JSON.parse(body) as { items: WebhookItem[] };
      const received = { headers: request.headers, body, items };
      requests.push(received);
      const reply = receiver.answer(received, requests.length - 1);
      if (reply === 'cut' || (reply >= 200 && reply < 300))
        taken.set(String(request.headers['idempotency-key']), received);
      if (reply === 'cut') response.destroy();
      else response.writeHead(reply, reply === 503 ? { 'retry-after': '1' } : {}).end('told to');
    });
  });
  const start = async (): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  t.teardown(stop);
  await start();
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/items`,
    requests,
    taken,
    answer: () => 200,
    stop,
    start,
  };
  return receiver;
}
