/**
 * Publishes many messages together, each by itself, and waits for all of their answers together: no promise, timer or
 * entry in a table for each. This is for what goes well. Whatever is not simply stored or refused, or has no answer in
 * time, is handed over, one by one, to who finds out what became of it.
 */
import { createInbox } from '@nats-io/transport-node';
import { decideRefusal } from '../../policy/recheck.ts';
import type { Connection } from '../connect.ts';
import type { Outgoing, PublishOutcome } from '../publisher.ts';
import { createAnswerReader, type Answer } from './answer.ts';
import { headerLinesOf } from './entry.ts';
import { encodeFrames } from './frames.ts';
import { createSweeper } from './sweeper.ts';
import type { Load } from './window.ts';

export interface Salvos {
  /** Never rejects. Each must be fit to be sent, and there must be one; `load` is released by and by. */
  fire(messages: readonly Outgoing[], load: Load): Promise<readonly PublishOutcome[]>;
  /** Nobody will answer what is under way. */
  hush(reason: string): void;
  close(): void;
}

export interface SalvoParts {
  readonly connection: Connection;
  readonly stream: string;
  readonly ackTimeoutMs: number;
  /** Goes on with one that was sent, from this answer to it. */
  readonly handOver: (message: Outgoing, answer: Answer) => Promise<PublishOutcome>;
  /** So much of what was fired is no longer under way, or somebody else counts it. */
  readonly release: (load: Load) => void;
  /** Something was stored. */
  readonly progress: () => void;
}

interface Salvo {
  /** Number of its first message; those of the others follow. */
  readonly first: number;
  readonly messages: readonly Outgoing[];
  readonly outcomes: PublishOutcome[];
  /** What waits for its answer; the rest has its outcome, or somebody else finds out. */
  readonly isWaiting: boolean[];
  readonly sentAtMs: number;
  readonly resolve: (outcomes: readonly PublishOutcome[]) => void;
  left: number;
  /** What has not been released. */
  load: Load;
}

const SWEEP_MAX_MS = 500;

export function createSalvos(parts: SalvoParts): Salvos {
  const { connection, ackTimeoutMs } = parts;
  const { nc } = connection;
  const readAnswer = createAnswerReader(parts.stream);
  const prefix = `${createInbox()}.`;
  /** In the order of sending; few at a time. */
  let open: Salvo[] = [];
  let next = 1;
  const sweeper = createSweeper(Math.min(ackTimeoutMs / 4, SWEEP_MAX_MS), sweep);
  const subscription = nc.subscribe(`${prefix}*`, {
    callback(error, { subject, data, headers }) {
      if (error) return;
      const number = Number(subject.slice(prefix.length));
      const salvo = open.find(({ first, messages }) => number >= first && number < first + messages.length);
      if (!salvo) return; // answered too late: it is being checked already
      const nobody = data.length === 0 && headers !== undefined;
      hear(salvo, number - salvo.first, nobody ? { kind: 'nobody' } : readAnswer(data));
    },
  });

  return {
    fire: (messages, load) =>
      new Promise((resolve) => {
        const first = next;
        next += messages.length;
        const left = messages.length;
        const isWaiting = new Array<boolean>(left).fill(true);
        open.push({
          first,
          messages,
          outcomes: [],
          isWaiting,
          sentAtMs: performance.now(),
          resolve,
          left,
          load,
        });
        sweeper.arm();
        const frames = messages.map((message) => ({
          subject: message.subject,
          payload: message.payload,
          headerLines: headerLinesOf(message),
        }));
        connection.writeFrames(
          encodeFrames(frames, (position) => prefix + String(first + position)),
          messages.length,
        );
      }),
    hush,
    close() {
      sweeper.close();
      hush('closed');
      subscription.unsubscribe();
    },
  };

  function hear(salvo: Salvo, position: number, answer: Answer): void {
    const message = salvo.messages[position];
    if (!message || !salvo.isWaiting[position]) return;
    if (answer.kind === 'stored') {
      parts.progress();
      settle(salvo, position, answer);
    } else if (answer.kind === 'refused' && isFinal(message, answer.code)) {
      settle(salvo, position, answer);
    } else handOver(salvo, position, message, answer);
  }

  function handOver(salvo: Salvo, position: number, message: Outgoing, answer: Answer): void {
    salvo.isWaiting[position] = false;
    // Counted by the other before it is no longer counted here, or whoever waits for the end would see one.
    void parts.handOver(message, answer).then((outcome) => settle(salvo, position, outcome));
    release(salvo, { messages: 1, bytes: message.payload.length });
  }

  function settle(salvo: Salvo, position: number, outcome: PublishOutcome): void {
    salvo.isWaiting[position] = false;
    salvo.outcomes[position] = outcome;
    salvo.left -= 1;
    if (salvo.left > 0) return;
    open = open.filter((each) => each !== salvo);
    release(salvo, salvo.load);
    salvo.resolve(salvo.outcomes);
  }

  function hush(reason: string): void {
    for (const salvo of open) giveUp(salvo, reason);
  }

  /** What has no answer by now will have none. */
  function giveUp(salvo: Salvo, reason: string): void {
    open = open.filter((each) => each !== salvo);
    for (const [position, message] of salvo.messages.entries())
      if (salvo.isWaiting[position]) handOver(salvo, position, message, { kind: 'silence', reason });
    release(salvo, salvo.load);
  }

  function release(salvo: Salvo, { messages, bytes }: Load): void {
    if (messages === 0) return;
    salvo.load = { messages: salvo.load.messages - messages, bytes: salvo.load.bytes - bytes };
    parts.release({ messages, bytes });
  }

  function sweep(): boolean {
    const nowMs = performance.now();
    const reason = `no answer within ${ackTimeoutMs} ms`;
    for (const salvo of open) if (salvo.sentAtMs + ackTimeoutMs <= nowMs) giveUp(salvo, reason);
    return open.length > 0;
  }
}

function isFinal({ expect }: Outgoing, code: number): boolean {
  return decideRefusal({ code, doubtful: false, expect }) === 'refused';
}
