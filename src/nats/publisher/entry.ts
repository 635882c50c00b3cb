/** One message on its way: what the caller gave, its headers as wire text, and what has happened to it so far. */
import type { Outgoing, PublishOutcome } from '../publisher.ts';

export interface Entry {
  readonly message: Outgoing;
  /** Position among everything published; what is sent again goes back to its place. */
  readonly order: number;
  /** Header lines without the opening and the closing line, so that a batch can add its own. */
  readonly headerLines: string;
  /** Payload and headers, as the server counts them. */
  readonly bytes: number;
  readonly giveUpAtMs: number;
  readonly resolve: (outcome: PublishOutcome) => void;
  /** When the copy under way was sent. */
  sentAtMs: number;
  /** A copy was sent whose answer never came. */
  doubtful: boolean;
  /** The server has refused a copy of it. */
  refused: boolean;
  /** The caller has its outcome; whoever still holds the entry drops it. */
  done: boolean;
}

export const EXPECT_HEADER = 'Nats-Expected-Last-Subject-Sequence';
export const EXPECT_SUBJECT_HEADER = 'Nats-Expected-Last-Subject-Sequence-Subject';

/** The opening and the closing line of a header block. */
const HEADER_FRAME_BYTES = 'NATS/1.0\r\n\r\n'.length;
const HEADER_NAME = /^[!-9;-~]+$/;
const HEADER_BREAK = /[\r\n\0]/;
const SUBJECT_FAULT = /[\s\0*>]|^\.|\.$|\.\./;

export function headerLinesOf({ expect, fence, headers }: Outgoing): string {
  let lines = expect === undefined ? '' : `${EXPECT_HEADER}: ${expect}\r\n`;
  if (fence !== undefined) {
    lines += `${EXPECT_HEADER}: ${fence.token}\r\n${EXPECT_SUBJECT_HEADER}: ${fence.subject}\r\n`;
  }
  if (headers !== undefined) {
    for (const name of Object.keys(headers)) lines += `${name}: ${headers[name] ?? ''}\r\n`;
  }
  return lines;
}

export function sizeOf(payload: Uint8Array, headerLines: string): number {
  if (headerLines === '') return payload.length;
  return payload.length + HEADER_FRAME_BYTES + Buffer.byteLength(headerLines);
}

/** Why the message cannot be sent at all, in words; undefined when it can. */
export function faultOf({ subject, headers }: Outgoing): string | undefined {
  if (subject.length === 0 || SUBJECT_FAULT.test(subject))
    return `'${subject}' is not a subject to publish to`;
  if (headers === undefined) return undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) return `'${name}' is not a header name`;
    if (HEADER_BREAK.test(value)) return `the header ${name} has a line break in its value`;
  }
  return undefined;
}
