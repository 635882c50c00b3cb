/**
 * How to send the members of a refused batch again. The server refuses a batch as a whole and does not name the
 * member at fault. Each plan makes the groups smaller, so every member ends with an answer of its own, and the
 * members keep their order.
 */
export interface RefusedBatch {
  readonly size: number;
  /** The server's error code. */
  readonly code: number;
  /** Positions whose expectation is known, from a look at the stream, not to hold. */
  readonly suspects: ReadonlySet<number>;
}

export interface Regroup {
  /** To be sent one by one: each gets its own answer. */
  readonly singles: readonly number[];
  /** To be sent as batches, one after the other. */
  readonly batches: readonly (readonly number[])[];
}

/** Below this size, finding the culprit by halves takes more round trips than asking for each. */
const SINGLES_MAX = 4;
/** The stream is full: hardly anything will be stored, and what is refused costs the disk nothing. */
const STREAM_FULL = 10077;

export function planRegroup({ size, code, suspects }: RefusedBatch): Regroup {
  const all = Array.from({ length: size }, (_, position) => position);
  if (suspects.size > 0) {
    const singles = all.filter((position) => suspects.has(position));
    const rest = all.filter((position) => !suspects.has(position));
    return { singles, batches: rest.length === 0 ? [] : [rest] };
  }
  if (size <= SINGLES_MAX || code === STREAM_FULL) return { singles: all, batches: [] };
  const middle = size >> 1;
  return { singles: [], batches: [all.slice(0, middle), all.slice(middle)] };
}
