/** What the server answers to a publish, read with as little work as possible: one of these comes per message. */
export type Answer =
  | { readonly kind: 'stored'; readonly seq: number }
  /** An atomic batch: `seq` is that of its last member. */
  | { readonly kind: 'committed'; readonly seq: number; readonly batch: string; readonly count: number }
  | { readonly kind: 'refused'; readonly code: number; readonly reason: string }
  /** No stream listens on the subject: there is none, or its leader is being elected. */
  | { readonly kind: 'nobody' }
  /** No answer came, and none will: a timeout, or a lost connection. */
  | { readonly kind: 'silence'; readonly reason: string };

export const REFUSED_MALFORMED = 400;
export const REFUSED_CLOSED = 499;
export const REFUSED_TOO_BIG = 10054;
export const REFUSED_NO_STREAM = 10059;
export const REFUSED_OTHER_STREAM = 10060;
export const REFUSED_CONFLICT = 10071;

const BRACE = '}'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);

/** Reads the answers of one stream. */
export function createAnswerReader(stream: string): (data: Uint8Array) => Answer {
  const opening = Buffer.from(`{"stream":${JSON.stringify(stream)},"seq":`);
  return (data) => {
    const seq = plainSequence(data, opening);
    return seq > 0 ? { kind: 'stored', seq } : parseAnswer(data, stream);
  };
}

/** The sequence of `{"stream":"X","seq":N}`, or 0 for an answer of any other shape. */
function plainSequence(data: Uint8Array, opening: Uint8Array): number {
  const end = data.length - 1;
  const start = opening.length;
  if (end <= start || data[end] !== BRACE) return 0;
  for (let i = 0; i < start; i += 1) if (data[i] !== opening[i]) return 0;
  let seq = 0;
  for (let i = start; i < end; i += 1) {
    const digit = data[i] ?? 0;
    if (digit < ZERO || digit > NINE) return 0;
    seq = seq * 10 + (digit - ZERO);
  }
  return seq;
}

interface RawAnswer {
  readonly stream?: string;
  readonly seq?: number;
  readonly batch?: string;
  readonly count?: number;
  readonly error?: { readonly code?: number; readonly err_code?: number; readonly description?: string };
}

function parseAnswer(data: Uint8Array, stream: string): Answer {
  const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString();
  let raw: RawAnswer;
  try {
    raw = JSON.parse(text) as RawAnswer;
  } catch {
    return { kind: 'silence', reason: `the answer is not JSON: ${text.slice(0, 100)}` };
  }
  const { error, seq = 0, batch, count } = raw;
  if (error) {
    return {
      kind: 'refused',
      code: error.err_code ?? error.code ?? 0,
      reason: error.description ?? 'no reason given',
    };
  }
  if (raw.stream !== stream) {
    const reason = `the stream ${raw.stream ?? '?'} stored it, not ${stream}: the subjects of the two overlap`;
    return { kind: 'refused', code: REFUSED_OTHER_STREAM, reason };
  }
  if (batch !== undefined && count !== undefined) return { kind: 'committed', seq, batch, count };
  return { kind: 'stored', seq };
}
