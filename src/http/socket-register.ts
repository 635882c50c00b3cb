/** Every socket of an engine, so that it can say how many there are, and end when the last one is gone. */
import type { Socket } from 'node:net';

export interface SocketRegister {
  readonly size: number;
  add(socket: Socket): Socket;
  /** `outer` takes the place of `inner`, which lives as long as it does. */
  wrap<S extends Socket>(inner: Socket, outer: S): S;
  /** From here on somebody else listens to it and ends it. */
  handOver(socket: Socket): void;
  /** Ends what was not handed over yet. */
  endDialling(): void;
  /** Resolves when no socket is left. */
  empty(): Promise<void>;
}

export function createSocketRegister(): SocketRegister {
  const open = new Set<Socket>();
  const dialling = new Set<Socket>();
  let onEmpty: (() => void)[] = [];

  return {
    get size() {
      return open.size;
    },
    add(socket) {
      open.add(socket);
      dialling.add(socket);
      // Errors have other listeners, which come and go; without one at every moment an error would end the process.
      socket.on('error', () => undefined).on('close', () => forget(socket));
      return socket;
    },
    wrap(inner, outer) {
      dialling.delete(inner);
      dialling.add(outer);
      outer
        .on('error', () => undefined)
        .on('close', () => {
          dialling.delete(outer);
          inner.destroy();
        });
      return outer;
    },
    handOver: (socket) => void dialling.delete(socket),
    endDialling() {
      for (const socket of dialling) socket.destroy(new Error('the engine was closed'));
    },
    empty: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => void onEmpty.push(resolve))),
  };

  function forget(socket: Socket): void {
    open.delete(socket);
    dialling.delete(socket);
    if (open.size > 0) return;
    const waiting = onEmpty;
    onEmpty = [];
    for (const resolve of waiting) resolve();
  }
}
