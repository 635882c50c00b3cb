/**
 * One request with a limit. Silence is not failure: the other side may have acted, or may act yet, so the answer
 * says which of the two it was, and the caller finds out.
 */
import {
  PermissionViolationError,
  RequestError,
  TimeoutError,
  type Msg,
  type MsgHdrs,
} from '@nats-io/nats-core';
import { Failure, messageOf } from '../domain/failure.ts';
import type { Connection } from './connect.ts';

export type Answer =
  | { readonly kind: 'reply'; readonly message: Msg }
  | { readonly kind: 'nobody' } // it reached no one, so it had no effect
  | { readonly kind: 'silence' }; // sent; what became of it is not known

export interface Question {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers?: MsgHdrs;
  readonly limitMs: number;
}

export async function ask(connection: Connection, question: Question): Promise<Answer> {
  const askedAt = performance.now();
  // The client would accept the request while it is disconnected, and drop it.
  if (!(await isUpWithin(connection, question.limitMs))) return { kind: 'nobody' };
  const leftMs = Math.max(1, question.limitMs - (performance.now() - askedAt));

  let forget = (): void => undefined;
  const cut = new Promise<Answer>((resolve) => {
    // An answer never crosses a reconnect: waiting for it would only cost time.
    forget = connection.onChange((up) => {
      if (!up) resolve({ kind: 'silence' });
    });
  });
  try {
    return await Promise.race([cut, send(connection, question, leftMs)]);
  } finally {
    forget();
  }
}

async function send(connection: Connection, question: Question, limitMs: number): Promise<Answer> {
  const { subject, payload, headers } = question;
  try {
    const message = await connection.nc.request(subject, payload, {
      timeout: limitMs,
      ...(headers ? { headers } : {}),
    });
    return { kind: 'reply', message };
  } catch (error) {
    if (error instanceof RequestError && error.isNoResponders()) return { kind: 'nobody' };
    if (error instanceof TimeoutError) return { kind: 'silence' };
    throw explain(error, subject);
  }
}

function explain(error: unknown, subject: string): Failure {
  if (error instanceof Error && error.cause instanceof PermissionViolationError)
    return new Failure('REJECTED', `this user of NATS may not send to ${subject}`, {
      cause: error,
      hint: 'Check the permissions of the user on the NATS server.',
    });
  return new Failure('UNAVAILABLE', `a request on ${subject} failed: ${messageOf(error)}`, { cause: error });
}

/** Whether the connection is up now, or comes up within the limit. */
export async function isUpWithin(connection: Connection, limitMs: number): Promise<boolean> {
  if (connection.nc.isClosed()) throw new Failure('UNAVAILABLE', 'the connection to NATS is closed');
  if (connection.isUp()) return true;
  return new Promise((resolve) => {
    const end = (up: boolean): void => {
      clearTimeout(timer);
      forget();
      resolve(up);
    };
    const timer = setTimeout(() => end(false), limitMs);
    const forget = connection.onChange((up) => {
      if (up) end(true);
    });
  });
}
