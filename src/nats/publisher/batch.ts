/** An atomic batch on the wire: its members in one go, one answer for all of them. */
import { randomBytes } from 'node:crypto';
import type { Answer } from './answer.ts';
import { createExchange, type Exchange, type ExchangeOptions } from './exchange.ts';

/** What the batch adds to a member: id, position and commit. */
export const BATCH_HEADER_BYTES = 128;

/** What a batch needs to know of its members. */
export interface Member {
  readonly message: { readonly subject: string; readonly payload: Uint8Array };
  readonly headerLines: string;
}

interface Parcel {
  sentAtMs: number;
  readonly arrive: (answer: Answer) => void;
}

export interface BatchSender extends Pick<Exchange<unknown>, 'hush' | 'close'> {
  /** One member goes as a plain message, several as a batch. Never rejects. */
  send(members: readonly Member[]): Promise<Answer>;
}

export function createBatchSender(options: Omit<ExchangeOptions<unknown>, 'onAnswer'>): BatchSender {
  const exchange = createExchange<Parcel>({
    ...options,
    onAnswer: (parcel, answer) => parcel.arrive(answer),
  });
  // Batches of all publishers meet in one table of the server.
  const prefix = randomBytes(9).toString('base64url');
  let batches = 0;

  return {
    send: (members) =>
      new Promise((resolve) => {
        if (members.length === 1) postSingle(members, { sentAtMs: 0, arrive: resolve });
        else postBatch(members, resolve);
      }),
    hush: (reason) => exchange.hush(reason),
    close: () => exchange.close(),
  };

  function postSingle([only]: readonly Member[], about: Parcel): void {
    if (!only) return;
    const { subject, payload } = only.message;
    exchange.post({ subject, payload, headerLines: only.headerLines }, about);
  }

  function postBatch(members: readonly Member[], resolve: (answer: Answer) => void): void {
    batches += 1;
    const id = `${prefix}${batches.toString(36)}`;
    const parcel: Parcel = {
      sentAtMs: 0,
      arrive: (answer) => resolve(checkCommit(answer, id, members.length)),
    };
    const frames = members.map(({ message: { subject, payload }, headerLines }, position) => {
      const lines = `${headerLines}Nats-Batch-Id: ${id}\r\nNats-Batch-Sequence: ${position + 1}\r\n`;
      const isLast = position + 1 === members.length;
      return { subject, payload, headerLines: isLast ? `${lines}Nats-Batch-Commit: 1\r\n` : lines };
    });
    exchange.postMany(frames, parcel);
  }
}

/** The sequences of the members are counted back from the last one: only if all of them, and no others, were stored. */
function checkCommit(answer: Answer, id: string, size: number): Answer {
  if (answer.kind === 'stored')
    return { kind: 'silence', reason: 'the server stored one message of the batch' };
  if (answer.kind !== 'committed') return answer;
  if (answer.batch === id && answer.count === size) return answer;
  return {
    kind: 'silence',
    reason: `the server confirmed ${answer.count} messages of batch ${answer.batch}`,
  };
}
