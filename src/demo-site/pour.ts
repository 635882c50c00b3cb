/** Sends one piece again and again as fast as the client takes it, and no faster: memory stays flat. */
import type { Writable } from 'node:stream';

export function pour(into: Writable, { piece, bytes }: { piece: Buffer; bytes: number }): void {
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !into.destroyed) {
      const part = left < piece.length ? piece.subarray(0, left) : piece;
      left -= part.length;
      if (!into.write(part)) return void into.once('drain', more);
    }
    into.end();
  };
  more();
}
