/** A listening server whose every socket is known, so that closing it leaves none behind. */
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { Failure, messageOf } from '../domain/failure.ts';

export interface Listener {
  readonly host: string;
  readonly port: number;
  sockets(): number;
  /** Ends what is connected; goes on listening. */
  drop(): Promise<void>;
  /** Stops listening: who comes now is refused by the system. */
  stop(): Promise<void>;
  /** Listens again, on the same port. */
  resume(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number; // 0 = any that is free
  readonly socketsMax: number;
}

export async function listen(
  server: Server,
  { host, port, socketsMax }: ListenOptions,
  onSocket: (socket: Socket) => void = () => undefined,
): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.maxConnections = socketsMax;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Clients come and go as they like; a broken connection is no event here.
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  const taken = await bind(server, { host, port });

  let stopping = Promise.resolve();
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    await endAll(sockets);
    await closed;
  };

  return {
    host,
    port: taken,
    sockets: () => sockets.size,
    drop: () => endAll(sockets),
    stop() {
      if (server.listening) stopping = stop();
      return stopping;
    },
    async resume() {
      await stopping;
      if (!server.listening) await bind(server, { host, port: taken });
    },
  };
}

/** Ends sockets, and waits until they are gone. */
export async function endAll(sockets: Iterable<Socket>): Promise<void> {
  const closings = [...sockets].map((socket) => {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy();
    return closed;
  });
  await Promise.all(closings);
}

async function bind(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Failure('CONFLICT', `cannot listen on ${host}:${port}: ${messageOf(error)}`, {
      cause: error,
      hint: 'Choose another port; 0 takes any that is free.',
    });
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}
