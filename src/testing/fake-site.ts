/** A site that is only data: what a test says it answers, without a socket. */
import { Failure } from '../domain/failure.ts';
import type { HttpAnswer, HttpEngine } from '../http/engine.ts';

export interface SiteRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A text is a page of HTML. */
export type SiteAnswer =
  | string
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
      /** Sent as JSON, with its content type. */
      readonly json?: unknown;
    };

/** By whole address, or by path and query; or a function. What it has no answer for is 404. */
export type FakeSite =
  | Readonly<Record<string, SiteAnswer>>
  | ((request: SiteRequest) => SiteAnswer | undefined | Promise<SiteAnswer | undefined>);

export function createFakeEngine(site: FakeSite): HttpEngine {
  return {
    stats: () => ({ pools: 0, sockets: 0, inFlight: 0 }),
    drop: () => undefined,
    close: () => Promise.resolve(),
    async send({ url, method, headers, body, onSent }, signal) {
      if (signal.aborted) throw new Failure('CANCELLED', 'the request was cancelled');
      onSent?.();
      const answer = await ask(site, {
        method,
        url,
        headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
        body: body === undefined ? '' : Buffer.from(body).toString(),
      });
      return makeAnswer(answer ?? { status: 404, body: 'not found' });
    },
  };
}

async function ask(site: FakeSite, request: SiteRequest): Promise<SiteAnswer | undefined> {
  if (typeof site === 'function') return site(request);
  const { href, pathname, search } = request.url;
  return site[href] ?? site[`${pathname}${search}`];
}

function makeAnswer(answer: SiteAnswer): HttpAnswer {
  const { status = 200, headers = {}, body, json } = typeof answer === 'string' ? { body: answer } : answer;
  const type = json === undefined ? 'text/html; charset=utf-8' : 'application/json';
  const bytes = Buffer.from(json === undefined ? (body ?? '') : JSON.stringify(json));
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const { 'set-cookie': cookie, ...rest } = lower;
  return {
    status,
    headers: { 'content-type': type, ...rest },
    setCookie: cookie === undefined ? [] : [cookie],
    body: bytes,
    bytesReceived: bytes.length,
    httpVersion: '1.1',
    timing: { firstByteMs: 0, totalMs: 0 },
  };
}
