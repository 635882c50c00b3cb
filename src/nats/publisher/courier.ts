/** Gets entries to the server and hands each answer to `judge`. Two ways: one by one, or in atomic batches. */
import type { Connection } from '../connect.ts';
import type { Answer } from './answer.ts';
import type { Entry } from './entry.ts';
import type { Link } from './link.ts';

export interface Courier {
  submit(entry: Entry): void;
  /** Sends it again, in its old place. */
  resubmit(entry: Entry): void;
  /** The link is open: send what waits. */
  pump(): void;
  /** Ends with silence all that is under way. */
  hush(reason: string): void;
  close(): void;
}

export interface CourierPorts {
  readonly connection: Connection;
  readonly stream: string;
  readonly ackTimeoutMs: number;
  readonly link: Link;
  /** What an answer means for one message, and the consequence. */
  judge(entry: Entry, answer: Answer): void;
}
