/**
 * Messages as the bytes of the protocol, many in one piece. Handed to the client library one by one, each costs as much
 * again as all the rest of its publishing.
 */
export interface Frame {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** Header lines, each with its line end; empty for none. */
  readonly headerLines: string;
}

const HEADER_OPENING = 'NATS/1.0\r\n';
const HEADER_FRAME_BYTES = HEADER_OPENING.length + 2;
const LINE_END_BYTES = 2;
const CR = 13;
const LF = 10;

/** `replyOf` tells where the answer to each goes, by its position; empty: none is wanted. */
export function encodeFrames(frames: readonly Frame[], replyOf: (position: number) => string): Buffer {
  const heads: string[] = [];
  let size = 0;
  for (const [position, frame] of frames.entries()) {
    const head = headOf(frame, replyOf(position));
    heads.push(head);
    size += Buffer.byteLength(head) + frame.payload.length + LINE_END_BYTES;
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [position, { payload }] of frames.entries()) {
    at += bytes.write(heads[position] ?? '', at);
    bytes.set(payload, at);
    at += payload.length;
    bytes[at] = CR;
    bytes[at + 1] = LF;
    at += LINE_END_BYTES;
  }
  return bytes;
}

function headOf({ subject, payload, headerLines }: Frame, reply: string): string {
  const to = reply === '' ? subject : `${subject} ${reply}`;
  if (headerLines === '') return `PUB ${to} ${payload.length}\r\n`;
  const header = HEADER_FRAME_BYTES + Buffer.byteLength(headerLines);
  return `HPUB ${to} ${header} ${header + payload.length}\r\n${HEADER_OPENING}${headerLines}\r\n`;
}
