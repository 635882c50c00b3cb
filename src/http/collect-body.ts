/** The pieces of a body, and not more of them than may be. */
export interface BodyCollector {
  readonly bytes: number;
  /** False when it is too much. */
  add(chunk: Buffer): boolean;
  take(): Buffer;
}

/**
 * A piece below this is copied together with its neighbours: a body of pieces of one byte each would otherwise take
 * a hundred times its size.
 */
const SMALL_BYTES = 1024;
const JOIN_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

export function createBodyCollector(maxBytes: number): BodyCollector {
  let bytes = 0;
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let join: Buffer | undefined;
  let joined = 0;

  return {
    get bytes() {
      return bytes;
    },
    add(chunk) {
      bytes += chunk.length;
      if (bytes > maxBytes) return false;
      if (first === undefined) first = chunk;
      else if (chunk.length < SMALL_BYTES) addSmall(chunk);
      else {
        flush();
        (rest ??= []).push(chunk);
      }
      return true;
    },
    take() {
      flush();
      if (first === undefined) return NOTHING;
      return rest === undefined ? first : Buffer.concat([first, ...rest], bytes);
    },
  };

  function addSmall(chunk: Buffer): void {
    if (joined + chunk.length > JOIN_BYTES) flush();
    join ??= Buffer.allocUnsafeSlow(JOIN_BYTES);
    joined += chunk.copy(join, joined);
  }

  function flush(): void {
    if (!join || joined === 0) return;
    (rest ??= []).push(Buffer.from(join.subarray(0, joined)));
    joined = 0;
  }
}
