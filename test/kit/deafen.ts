/** A connection that loses things: a request that never arrives, or an answer that never comes back. */
import type { Connection } from '../../src/nats/connect.ts';

type Request = Connection['nc']['request'];

export interface Losses {
  /** Asked before the request is sent. */
  readonly request?: (subject: string) => boolean;
  /** Asked after the server has acted. */
  readonly answer?: (subject: string) => boolean | Promise<boolean>;
}

export function deafen(connection: Connection, loses: Losses): Connection {
  const { nc } = connection;
  const request: Request = async (subject, payload, options) => {
    if (loses.request?.(subject)) return timeOut(connection);
    const answer = await nc.request(subject, payload, options);
    return (await loses.answer?.(subject)) ? timeOut(connection) : answer;
  };
  return { ...connection, nc: Object.create(nc, { request: { value: request } }) as Connection['nc'] };
}

/** The client's own timeout, from somebody who listens and does not answer. */
async function timeOut({ nc }: Connection): ReturnType<Request> {
  const subscription = nc.subscribe('nobody.answers', { callback: () => undefined });
  try {
    return await nc.request('nobody.answers', '', { timeout: 20 });
  } finally {
    subscription.unsubscribe();
  }
}
