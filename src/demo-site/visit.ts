/** One request as the pages see it, and the few ways in which they answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What follows the first part of the path: `5` of `/product/5`. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** Where the site listens, as the client called it: `http://127.0.0.1:8088`. */
  readonly origin: string;
  readonly ip: string;
  readonly nowMs: number; // monotonic
}

export type Page = (visit: Visit) => void | Promise<void>;

/** First part of the path → who answers. */
export type Pages = Readonly<Record<string, Page>>;

export function sendHtml({ response }: Visit, body: string | Buffer, status = 200): void {
  send(response, { status, type: 'text/html; charset=utf-8', body });
}

export function sendText({ response }: Visit, body: string, status = 200): void {
  send(response, { status, type: 'text/plain; charset=utf-8', body });
}

export function sendJson({ response }: Visit, value: unknown, status = 200): void {
  send(response, { status, type: 'application/json', body: JSON.stringify(value) });
}

export function sendRedirect({ response }: Visit, location: string, status = 302): void {
  response.setHeader('location', location);
  send(response, { status, type: 'text/plain', body: '' });
}

function send(
  response: ServerResponse,
  { status, type, body }: { status: number; type: string; body: string | Buffer },
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // 204 and 304 have no body, so they announce none.
  const bare = status === 204 || status === 304;
  response.writeHead(status, bare ? {} : { 'content-type': type, 'content-length': bytes.length });
  response.end(bare ? undefined : bytes);
}

/** A number of the query, kept between bounds: a demo is no place to be asked for terabytes by mistake. */
export function readNumber(
  { query }: Visit,
  name: string,
  { fallback, min = 0, max }: { fallback: number; min?: number; max: number },
): number {
  const text = query.get(name);
  const value = text === null || text === '' ? fallback : Number(text);
  return Number.isFinite(value) ? Math.min(Math.max(value, min), max) : fallback;
}

const BODY_MAX_BYTES = 1024 * 1024;

/** The body of a request; undefined when it is too long or broke off. */
export async function readBody({ request }: Visit): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > BODY_MAX_BYTES) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(parts);
}

/** Waits, unless the client leaves first; true when it is still there. No timer outlives the connection. */
export function pause({ response }: Visit, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const left = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      response.off('close', left);
      resolve(true);
    }, ms);
    if (response.destroyed) left();
    else response.once('close', left);
  });
}
