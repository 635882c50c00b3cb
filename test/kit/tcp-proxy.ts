/** A TCP proxy in front of a server that can lose what one side says, or cut all connections. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Teardown } from './nats-server.ts';

export interface TcpProxy {
  readonly url: string;
  /** From now on the client hears nothing; what it says still arrives. */
  muteServer(): void;
  /** From now on the server hears nothing. Resolves when the first words are lost. */
  muteClient(): Promise<void>;
  /** Ends all connections, and every new one at once. */
  refuse(): void;
  /** Ends all connections, and lets new ones talk freely again. */
  cut(): void;
}

export async function startTcpProxy(t: Teardown, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let serverMuted = false;
  let clientMuted = false;
  let refusing = false;
  let onLoss: (() => void) | undefined;

  const server = createServer((client) => {
    if (refusing) return void client.destroy();
    const upstream = connect(targetPort, '127.0.0.1');
    relay(client, upstream, () => clientMuted);
    relay(upstream, client, () => serverMuted);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    const closed = once(server, 'close');
    server.close();
    destroyAll();
    await closed;
  });

  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    muteServer: () => void (serverMuted = true),
    muteClient() {
      clientMuted = true;
      return new Promise((resolve) => (onLoss = resolve));
    },
    refuse() {
      refusing = true;
      destroyAll();
    },
    cut() {
      destroyAll();
      refusing = false;
      serverMuted = false;
      clientMuted = false;
    },
  };

  function relay(from: Socket, to: Socket, muted: () => boolean): void {
    sockets.add(from);
    from.on('data', (bytes) => {
      if (!muted()) to.write(bytes);
      else if (clientMuted) onLoss?.();
    });
    from.on('error', () => undefined); // a reset is what this proxy is for
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  function destroyAll(): void {
    for (const socket of sockets) socket.destroy();
  }
}
