/** One request of the demo site: recorded, judged by the rules, answered by its page. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { performance } from 'node:perf_hooks';
import { messageOf } from '../domain/failure.ts';
import type { RequestLog } from './request-log.ts';
import { sendNotFound } from './routes/catalogue.ts';
import type { RuleBook, Ruling } from './rules.ts';
import { pause, sendText, type Page, type Pages, type Visit } from './visit.ts';

export interface ServeParts {
  readonly pages: Pages;
  /** Pages about the site itself: neither recorded nor ruled. */
  readonly control: Pages;
  readonly log: RequestLog;
  readonly rules: RuleBook;
  readonly nameOf: (ip: string) => string;
}

export function createServe({ pages, control, log, rules, nameOf }: ServeParts): RequestListener {
  const connections = new WeakMap<Socket, number>();
  let connectionCount = 0;

  const numberOf = (socket: Socket): number => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    connectionCount += 1;
    connections.set(socket, connectionCount);
    return connectionCount;
  };

  function record({ request, response, ip, nowMs }: Visit): void {
    const { method = '', url = '', headers, rawHeaders, socket } = request;
    const end = log.add({
      startMs: nowMs,
      atEpochMs: Date.now(),
      method,
      path: url,
      host: headers.host ?? '',
      secure: socket instanceof TLSSocket,
      ip,
      port: socket.remotePort ?? 0,
      connection: numberOf(socket),
      egress: nameOf(ip),
      userAgent: headers['user-agent'],
      cookie: headers.cookie,
      rawHeaders,
    });
    response.once('close', () =>
      end({
        endMs: performance.now(),
        status: response.headersSent ? response.statusCode : undefined,
        finished: response.writableFinished,
      }),
    );
  }

  return (request, response) => {
    const { segment, visit } = enter(request, response);
    const own = Object.hasOwn(control, segment) ? control[segment] : undefined;
    if (own) {
      run(own, visit);
      return;
    }
    record(visit);
    const page = (Object.hasOwn(pages, segment) ? pages[segment] : undefined) ?? sendNotFound;
    const ruling = rules.judge({ path: request.url ?? '/', ip: visit.ip, nowMs: visit.nowMs });
    run(ruling ? (ruled) => obey(ruled, ruling, page) : page, visit);
  };
}

async function obey(visit: Visit, { delayMs, refusal }: Ruling, page: Page): Promise<void> {
  if (delayMs > 0 && !(await pause(visit, delayMs))) return;
  if (!refusal) return page(visit);
  const { status, retryAfterS } = refusal;
  if (retryAfterS !== undefined) visit.response.setHeader('retry-after', String(retryAfterS));
  sendText(visit, `refused with ${status}`, status);
}

/** A fault of a page is an answer too: the site goes on. */
function run(page: Page, visit: Visit): void {
  const fail = (error: unknown): void => {
    if (visit.response.headersSent) visit.request.socket.destroy();
    else sendText(visit, `the demo site failed: ${messageOf(error)}`, 500);
  };
  try {
    page(visit)?.catch(fail);
  } catch (error) {
    fail(error);
  }
}

function enter(request: IncomingMessage, response: ServerResponse): { segment: string; visit: Visit } {
  const { url = '/', socket } = request;
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const slash = path.indexOf('/', 1);
  const segment = slash === -1 ? path.slice(1) : path.slice(1, slash);
  const scheme = socket instanceof TLSSocket ? 'https' : 'http';
  let query: URLSearchParams | undefined;
  return {
    segment,
    visit: {
      request,
      response,
      rest: slash === -1 ? '' : path.slice(slash + 1),
      // Most pages ask for none of it.
      get query() {
        return (query ??= new URLSearchParams(mark === -1 ? '' : url.slice(mark)));
      },
      origin: `${scheme}://${request.headers.host ?? 'localhost'}`,
      // A socket that listens for both families writes IPv4 as IPv6.
      ip: (socket.remoteAddress ?? '').replace('::ffff:', ''),
      nowMs: performance.now(),
    },
  };
}
