/**
 * What became of a message whose answer is missing or cannot be taken at its word.
 *
 * A message is *in doubt* from the moment an answer to it failed to come: a copy may be stored, may still be on its
 * way, or may be lost. Doubt ends only by evidence. A compare-and-set leaves evidence: whatever was stored first
 * after the sequence it expected is either this message or the write that beat it. Everything else leaves none,
 * so it is either harmless to send again, or its outcome is unknown.
 */
export interface Doubt {
  /** The last sequence that the message expects on its subject, if it is a compare-and-set. */
  readonly expect: number | undefined;
  /** Sending it twice does no harm. */
  readonly repeatable: boolean;
}

export function decideSilence(message: Doubt): 'recheck' | 'again' | 'unknown' {
  if (message.expect !== undefined) return 'recheck';
  return message.repeatable ? 'again' : 'unknown';
}

/** Server errors that say "not now": nothing was stored, and the same message may pass a moment later. */
const TEMPORARY: ReadonlySet<number> = new Set([
  10008, // the JetStream cluster has no leader at the moment
  10163, // the leader is new and does not know the subject's last sequence yet
  10164, // another write to the subject is under way (replicated streams)
  10167, // too many requests
  10210, // too many batches under way
]);

export interface Refusal {
  readonly code: number;
  readonly doubtful: boolean;
  readonly expect: number | undefined;
}

/** The server refused a copy: that settles the message only if this copy was the only one. */
export function decideRefusal(refusal: Refusal): 'later' | 'refused' | 'recheck' | 'unknown' {
  if (TEMPORARY.has(refusal.code)) return 'later';
  if (!refusal.doubtful) return 'refused';
  return refusal.expect === undefined ? 'unknown' : 'recheck';
}

export interface Evidence {
  readonly expect: number;
  readonly repeatable: boolean;
  /** The stream forgets messages by itself (a work queue), so that absence proves nothing. */
  readonly mayVanish: boolean;
  /** The server has refused a copy of it. */
  readonly refused: boolean;
  /** The first message on the subject after `expect` that the stream still has. */
  readonly found: FoundMessage | undefined;
}

export interface FoundMessage {
  readonly seq: number;
  /** Same bytes, headers and expectation as ours. */
  readonly ours: boolean;
  /** What that message expected, if it was a compare-and-set itself. */
  readonly expected: number | undefined;
}

export type Verdict =
  | { readonly kind: 'stored'; readonly seq: number }
  | { readonly kind: 'beaten'; readonly seq: number }
  | { readonly kind: 'again' }
  | { readonly kind: 'unknown'; readonly reason: string };

export function decideRecheck(evidence: Evidence): Verdict {
  const { expect, found } = evidence;
  if (found === undefined || found.seq <= expect) return decideAbsent(evidence);
  if (found.ours) return { kind: 'stored', seq: found.seq };
  // It expected what we expected, and it is stored: so ours never was, and never will be.
  if (found.expected === expect) return { kind: 'beaten', seq: found.seq };
  return { kind: 'unknown', reason: `the subject has moved on to sequence ${found.seq} since` };
}

function decideAbsent({ expect, repeatable, mayVanish, refused }: Evidence): Verdict {
  if (refused) {
    return {
      kind: 'unknown',
      reason: `the subject is no longer at sequence ${expect}, and has nothing newer`,
    };
  }
  if (mayVanish && !repeatable) {
    return { kind: 'unknown', reason: 'it may have been stored and consumed since' };
  }
  return { kind: 'again' };
}
