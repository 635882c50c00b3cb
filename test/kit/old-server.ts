/** Speaks just enough of the protocol to look like a nats-server of long ago: no such binary is at hand everywhere. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Teardown } from './nats-server.ts';

export interface OldServer {
  readonly url: string;
}

/** On any free port, or on one that a server of today has just left. */
export async function startOldServer(t: Teardown, port = 0): Promise<OldServer> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(
      'INFO {"server_id":"x","version":"2.9.10","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}\r\n',
    );
    socket.on('data', (data) => {
      if (data.toString().includes('PING')) socket.write('PONG\r\n');
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
