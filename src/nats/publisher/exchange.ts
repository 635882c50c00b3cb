/**
 * Publishes with a reply subject and brings each answer back to what it answers. One wildcard subscription takes
 * all replies; the last token of the reply subject is the number of the post. While posts are under way, one timer looks
 * for those that nobody answered: they are kept in the order of sending, so it looks only at the oldest.
 */
import { createInbox } from '@nats-io/transport-node';
import type { Connection } from '../connect.ts';
import { REFUSED_TOO_BIG, type Answer, createAnswerReader } from './answer.ts';
import { encodeFrames, type Frame } from './frames.ts';
import { createSweeper } from './sweeper.ts';

export interface Exchange<T> {
  /** `about`: what the answer is for. */
  post(message: Frame, about: T): void;
  /** Many in one go; the last one is answered. */
  postMany(messages: readonly Frame[], about: T): void;
  /** Ends every post under way with silence. */
  hush(reason: string): void;
  close(): void;
}

export interface ExchangeOptions<T> {
  readonly connection: Connection;
  readonly stream: string;
  /** Who has waited for so long is told that there is silence. */
  readonly ackTimeoutMs: number;
  onAnswer(about: T, answer: Answer): void;
}

const NO_RESPONDERS = 503;
const SWEEP_MAX_MS = 500;

export function createExchange<T extends { sentAtMs: number }>(options: ExchangeOptions<T>): Exchange<T> {
  const { nc } = options.connection;
  const readAnswer = createAnswerReader(options.stream);
  const prefix = `${createInbox()}.`;
  const open = new Map<number, T>();
  const sweeper = createSweeper(Math.min(options.ackTimeoutMs / 4, SWEEP_MAX_MS), sweep);
  let last = 0;

  const subscription = nc.subscribe(`${prefix}*`, {
    callback: (error, message) => {
      if (error) return;
      const number = Number(message.subject.slice(prefix.length));
      const about = open.get(number);
      if (about === undefined) return; // answered too late: it is being checked already
      open.delete(number);
      const { data } = message;
      const nobody = data.length === 0 && message.headers?.code === NO_RESPONDERS;
      options.onAnswer(about, nobody ? { kind: 'nobody' } : readAnswer(data));
    },
  });

  return {
    post: (message, about) => send([message], about),
    postMany: send,
    hush(reason) {
      const silenced = [...open.values()];
      open.clear();
      for (const about of silenced) options.onAnswer(about, { kind: 'silence', reason });
    },
    close() {
      sweeper.close();
      subscription.unsubscribe();
    },
  };

  function send(messages: readonly Frame[], about: T): void {
    const refusal = refusalOf(messages);
    if (refusal) {
      options.onAnswer(about, refusal);
      return;
    }
    last += 1;
    about.sentAtMs = performance.now();
    open.set(last, about);
    sweeper.arm();
    const reply = prefix + String(last);
    const bytes = encodeFrames(messages, (at) => (at === messages.length - 1 ? reply : ''));
    options.connection.writeFrames(bytes, messages.length);
  }

  /** What the server would end the connection for, or what nobody hears any more. */
  function refusalOf(messages: readonly Frame[]): Answer | undefined {
    if (nc.isClosed()) return { kind: 'silence', reason: 'the connection is closed' };
    const maxPayload = nc.info?.max_payload ?? Infinity;
    const big = messages.find(({ payload, headerLines }) => payload.length + headerLines.length > maxPayload);
    if (!big) return undefined;
    const reason = `a message has ${big.payload.length} bytes, and the server takes ${maxPayload} (max_payload)`;
    return { kind: 'refused', code: REFUSED_TOO_BIG, reason };
  }

  function sweep(): boolean {
    const nowMs = performance.now();
    const late: T[] = [];
    for (const [number, about] of open) {
      if (about.sentAtMs + options.ackTimeoutMs > nowMs) break;
      open.delete(number);
      late.push(about);
    }
    const reason = `no answer within ${options.ackTimeoutMs} ms`;
    for (const about of late) options.onAnswer(about, { kind: 'silence', reason });
    return open.size > 0;
  }
}
