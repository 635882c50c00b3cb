/** Reads what a proxy says before the connection is handed over. What comes after stays in the socket. */
import type { Socket } from 'node:net';

export interface SocketReader {
  /** Exactly so many bytes. */
  take(count: number): Promise<Buffer>;
  /** What comes before `mark`; the mark is taken away too. */
  takeUntil(mark: string, maxBytes: number): Promise<string>;
}

const CUT = 'the connection was closed in the middle of the answer';

export function createSocketReader(socket: Socket): SocketReader {
  return {
    take: (count) =>
      wait(() => {
        const bytes = socket.read(count) as Buffer | null;
        // At the end of a stream `read` gives what is left.
        if (bytes !== null && bytes.length < count) throw new Error(CUT);
        return bytes;
      }),
    takeUntil: (mark, maxBytes) => {
      let seen = Buffer.alloc(0);
      return wait(() => {
        const chunk = socket.read() as Buffer | null;
        if (chunk === null) return null;
        seen = Buffer.concat([seen, chunk]);
        const end = seen.indexOf(mark);
        if (end === -1 && seen.length <= maxBytes) return null;
        if (end === -1 || end > maxBytes) throw new Error(`no end of the answer within ${maxBytes} bytes`);
        if (seen.length > end + mark.length) socket.unshift(seen.subarray(end + mark.length));
        return seen.toString('latin1', 0, end);
      });
    },
  };

  /** Asks again whenever there is something new, until it is enough or the socket is gone. */
  function wait<T>(attempt: () => T | null): Promise<T> {
    return new Promise((resolve, reject) => {
      socket.on('readable', look).on('error', fail).on('end', ended).on('close', ended);
      look();

      function look(): void {
        try {
          const got = attempt();
          if (got !== null) finish(() => resolve(got));
        } catch (error) {
          fail(error as Error);
        }
      }
      function fail(error: Error): void {
        finish(() => reject(error));
      }
      function ended(): void {
        fail(socket.errored ?? new Error(CUT));
      }
      function finish(settle: () => void): void {
        socket.off('readable', look).off('error', fail).off('end', ended).off('close', ended);
        settle();
      }
    });
  }
}
