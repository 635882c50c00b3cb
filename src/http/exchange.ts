/**
 * One request and its answer on a lane. Undici's own timeouts watch for silence; the total deadline is ours, because a
 * server that sends a byte now and then never is silent.
 *
 * The body is never paused: undici's parser ends the process when a paused connection is reset by the other side
 * (an assertion in `Parser.finish`). The cap on the bytes received bounds what piles up instead.
 */
import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import type { HttpAnswer, HttpRequest } from './engine.ts';
import { createBodyCollector, type BodyCollector } from './collect-body.ts';
import { decodeBody, readCodings, tooLarge } from './decode-body.ts';
import { asHttpFailure, HttpFailure } from './http-failure.ts';
import type { Lane } from './pools.ts';

/** Bytes that cannot be made smaller come out of a coding a little larger. */
const CODED_SLACK_BYTES = 64 * 1024;

export function exchange(lane: Lane, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { url, timeouts, maxBytes } = request;
    const host = url.host;
    const startedAt = performance.now();
    const openedBefore = lane.opened;
    let controller: Dispatcher.DispatchController | undefined;
    let sentAt: number | undefined;
    let firstByteAt = 0;
    let status = 0;
    let headers: AnswerHeaders | undefined;
    let codings: readonly string[] = [];
    let body: BodyCollector | undefined;
    let ended: HttpFailure | true | undefined;

    const timer = setTimeout(onDeadline, timeouts.totalMs);
    // Many requests of one task share its signal, and each takes its listener away again.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', onAbort);
    lane.connectMs = timeouts.connectMs;
    lane.pool.dispatch(
      {
        origin: lane.route.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: flatten(request.headers),
        body: request.body ?? null,
        headersTimeout: timeouts.headersMs,
        bodyTimeout: timeouts.bodyMs,
      },
      { onRequestStart, onResponseStart, onResponseData, onResponseEnd, onResponseError },
    );

    function onRequestStart(given: Dispatcher.DispatchController): void {
      controller = given;
      // It gave up while it waited for a connection: nothing is sent.
      if (ended instanceof HttpFailure) given.abort(ended);
      else {
        sentAt = performance.now();
        request.onSent?.();
      }
    }

    function onResponseStart(_: unknown, code: number, raw: RawHeaders): void {
      if (code < 200) return; // a hint; the answer is still to come
      firstByteAt = performance.now();
      status = code;
      headers = readHeaders(raw);
      codings = readCodings(headers.plain['content-encoding'], host);
      body = createBodyCollector(codings.length === 0 ? maxBytes : maxBytes + CODED_SLACK_BYTES);
    }

    function onResponseData(_: unknown, chunk: Buffer): void {
      if (body?.add(chunk) === false) fail(tooLarge(host, maxBytes));
    }

    function onResponseEnd(): void {
      if (ended !== undefined || !headers || !body) return;
      const received = body.take();
      if (codings.length === 0) {
        // The connection is free only after undici's own next step. Whoever sends the next request at once would get
        // a second connection, and wait for it.
        queueMicrotask(() => setImmediate(succeed, received, received.length));
      } else {
        void decodeBody(received, codings, { host, maxBytes }).then(
          (decoded) => succeed(decoded, received.length),
          fail,
        );
      }
    }

    function onResponseError(_: unknown, error: Error): void {
      fail(error);
    }

    function succeed(bytes: Buffer, bytesReceived: number): void {
      if (ended !== undefined || !headers) return;
      finish(true);
      resolve({
        status,
        headers: headers.plain,
        setCookie: headers.setCookie,
        body: bytes,
        bytesReceived,
        httpVersion: lane.httpVersion,
        timing: {
          ...(lane.opened !== openedBefore && sentAt !== undefined && { connectMs: sentAt - startedAt }),
          firstByteMs: firstByteAt - startedAt,
          totalMs: performance.now() - startedAt,
        },
      });
    }

    function fail(error: unknown): void {
      if (ended !== undefined) return;
      const failure = asHttpFailure(error, { host, sent: sentAt !== undefined });
      finish(failure);
      controller?.abort(failure);
      reject(failure);
    }

    function finish(how: HttpFailure | true): void {
      ended = how;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }

    function onAbort(): void {
      fail(
        new HttpFailure('CANCELLED', `${host}: the request was cancelled`, { sent: sentAt !== undefined }),
      );
    }

    function onDeadline(): void {
      const sent = sentAt !== undefined;
      const { route, pool } = lane;
      // Through a proxy that has not let a single connection through so far, the proxy is what we waited for.
      const stuck = !sent && route.proxy !== undefined && pool.stats.connected === 0;
      const [code, who] = stuck
        ? (['PROXY', `proxy ${route.egress}`] as const)
        : (['TIMEOUT', host] as const);
      fail(new HttpFailure(code, `${who}: not done within ${timeouts.totalMs} ms`, { sent }));
    }
  });
}

type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

interface AnswerHeaders {
  readonly plain: Record<string, string>;
  readonly setCookie: readonly string[];
}

const NO_COOKIES: readonly string[] = [];

function readHeaders(raw: RawHeaders): AnswerHeaders {
  // Without a prototype, because the names come from the site.
  const plain = Object.create(null) as Record<string, string>;
  let setCookie = NO_COOKIES;
  for (const name in raw) {
    const value = raw[name];
    if (value === undefined) continue;
    if (name === 'set-cookie') setCookie = typeof value === 'string' ? [value] : value;
    else plain[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return { plain, setCookie };
}

function flatten(headers: HttpRequest['headers']): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return flat;
}
