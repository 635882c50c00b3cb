/**
 * Publishes with a reply subject and brings each answer back to what it answers. One wildcard subscription takes
 * all replies; the last token of the reply subject is the number of the post. One timer looks for posts that
 * nobody answered: they are kept in the order of sending, so it looks only at the oldest.
 */
import { createInbox, type MsgHdrs } from '@nats-io/transport-node';
import { messageOf } from '../../domain/failure.ts';
import type { Connection } from '../connect.ts';
import { REFUSED_MALFORMED, type Answer, createAnswerReader } from './answer.ts';

export interface Post<T> {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** Header lines, each with its line end; empty for none. */
  readonly headerLines: string;
  /** What the answer is for; undefined when none is wanted. */
  readonly about: T | undefined;
}

export interface Exchange<T> {
  post(post: Post<T>): void;
  /** Ends every post under way with silence. */
  hush(reason: string): void;
  /** Ends those that have waited too long. */
  sweep(nowMs: number): void;
  close(): void;
}

export interface ExchangeOptions<T> {
  readonly connection: Connection;
  readonly stream: string;
  readonly ackTimeoutMs: number;
  onAnswer(about: T, answer: Answer): void;
}

const NO_RESPONDERS = 503;

export function createExchange<T extends { sentAtMs: number }>(options: ExchangeOptions<T>): Exchange<T> {
  const { nc } = options.connection;
  const readAnswer = createAnswerReader(options.stream);
  const prefix = `${createInbox()}.`;
  const open = new Map<number, T>();
  let last = 0;

  // The client calls encode() and nothing else of a header object; ours hands out bytes that are made already.
  const header = { bytes: new Uint8Array(0), encode: () => header.bytes };
  const headers = header as unknown as MsgHdrs;

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
    post({ subject, payload, headerLines, about }) {
      let reply = '';
      if (about !== undefined) {
        last += 1;
        reply = prefix + String(last);
        about.sentAtMs = performance.now();
        open.set(last, about);
      }
      try {
        if (headerLines === '') {
          nc.publish(subject, payload, { reply });
        } else {
          header.bytes = Buffer.from(`NATS/1.0\r\n${headerLines}\r\n`);
          nc.publish(subject, payload, { reply, headers });
        }
      } catch (error) {
        fail(about, error);
      }
    },
    hush(reason) {
      const silenced = [...open.values()];
      open.clear();
      for (const about of silenced) options.onAnswer(about, { kind: 'silence', reason });
    },
    sweep(nowMs) {
      const late: T[] = [];
      for (const [number, about] of open) {
        if (about.sentAtMs + options.ackTimeoutMs > nowMs) break;
        open.delete(number);
        late.push(about);
      }
      const reason = `no answer within ${options.ackTimeoutMs} ms`;
      for (const about of late) options.onAnswer(about, { kind: 'silence', reason });
    },
    close: () => subscription.unsubscribe(),
  };

  /** The client refuses a message that the server would refuse, and everything once the connection is closed. */
  function fail(about: T | undefined, error: unknown): void {
    if (about === undefined) return;
    open.delete(last);
    const reason = messageOf(error);
    options.onAnswer(
      about,
      nc.isClosed() ? { kind: 'silence', reason } : { kind: 'refused', code: REFUSED_MALFORMED, reason },
    );
  }
}
