/** One page: opened, watched until it is ready, read, closed. However it ends, its tab is gone. */
import type { Page } from 'playwright-core';
import { tooLarge } from '../http/decode-body.ts';
import { HttpFailure } from '../http/http-failure.ts';
import { failureOfPage, networkCodeOf } from './browser-failure.ts';
import type { Identities, Identity } from './identities.ts';
import { watchMain, type MainAnswer, type MainWatch } from './main-answer.ts';
import { placeOf } from './relay.ts';
import type { BrowserAnswer, BrowserCookie, BrowserRequest } from './request.ts';

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b|^$/i;
const NOTHING = Buffer.alloc(0);
/** Answers that leave the browser where it was. */
const WITHOUT_PAGE: ReadonlySet<number> = new Set([204, 205]);

export async function visit(
  identities: Identities,
  request: BrowserRequest,
  signal: AbortSignal,
): Promise<BrowserAnswer> {
  const { url, timeouts, maxBytes } = request;
  const { host } = url;
  const startedAt = performance.now();
  const identity = await identities.take(request);
  const { context, route } = identity;
  let page: Page | undefined;
  let ended: HttpFailure | undefined;
  let isBegun = false;
  const timer = setTimeout(() => end('TIMEOUT', `not done within ${timeouts.totalMs} ms`), timeouts.totalMs);
  const onAbort = (): void => end('CANCELLED', 'the request was cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await giveCookies(identity, request.cookies);
    page = await context.newPage();
    page.on('crash', () => end('INTERNAL', 'the page crashed its tab in the browser'));
    const { headers, onSent } = request;
    identities.plan(page, { headers, host, begun: false, onSent });
    const watch = await watchMain(page, host);
    const receivedBefore = route.received;
    route.allow(maxBytes);
    const sentAt = performance.now();
    if (ended) throw ended;
    isBegun = true;
    const answer = await load(page, request, watch);
    const { openedAt = sentAt } = route.lately(placeOf(url.hostname, portOf(url)), sentAt);
    return {
      ...answer,
      cookies: await takeCookies(identity),
      bytesReceived: route.received - receivedBefore,
      timing: {
        connectMs: openedAt - startedAt,
        firstByteMs: watch.answeredAt - startedAt,
        totalMs: performance.now() - startedAt,
      },
    };
  } catch (error) {
    throw whatHappened(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    await page?.close().catch(() => undefined);
    await identities.rest(identity);
  }

  /** Whatever waits for the page fails when it is closed, and says then what this has noted. */
  function end(code: 'TIMEOUT' | 'CANCELLED' | 'INTERNAL', what: string): void {
    ended ??= new HttpFailure(code, `${host}: ${what}`, { sent: isBegun });
    void page?.close().catch(() => undefined);
  }

  function whatHappened(error: unknown): HttpFailure {
    if (ended) return ended;
    if (route.isExceeded()) return tooLarge(host, maxBytes);
    // The relay knows whose fault it was; the browser knows only that there was no connection.
    const { fault } = route.lately(placeOf(url.hostname, portOf(url)), startedAt);
    return fault ?? failureOfPage(error, host);
  }
}

type Loaded = Pick<BrowserAnswer, 'status' | 'headers' | 'setCookie' | 'body' | 'httpVersion'>;

async function load(page: Page, request: BrowserRequest, watch: MainWatch): Promise<Loaded> {
  const { url, waitFor, timeouts, maxBytes } = request;
  let response;
  try {
    // Its own limit is the one for the whole; this one is for a site that does not begin.
    response = await page.goto(url.href, {
      waitUntil: 'commit',
      timeout: timeouts.connectMs + timeouts.headersMs,
    });
  } catch (error) {
    const answer = watch.answer();
    if (answer && !page.isClosed() && isStopped(error)) return withoutPage(answer, url.host);
    throw error;
  }
  const answer = watch.answer();
  if (!answer || !response) throw new Error('the browser showed a page that nobody sent');
  const plain = { status: answer.status, setCookie: [] as string[] };
  const httpVersion = (await response.httpVersion()).endsWith('2') ? ('2' as const) : ('1.1' as const);
  if (!HTML.test(answer.headers['content-type'] ?? '')) {
    const body = await response.body();
    if (body.length > maxBytes) throw tooLarge(url.host, maxBytes);
    return { ...plain, headers: answer.headers, body, httpVersion };
  }
  await ready(page, answer, waitFor);
  const body = Buffer.from(await page.content());
  if (body.length > maxBytes) throw tooLarge(url.host, maxBytes);
  const headers = { ...answer.headers, 'content-type': 'text/html; charset=utf-8' };
  return { ...plain, headers, body, httpVersion };
}

/** Not by a fault of the network, nor for lack of time: there is an answer, and it is no page. */
function isStopped(error: unknown): boolean {
  const code = networkCodeOf(error);
  return code === 'ERR_ABORTED' || (code === '' && error instanceof Error && error.name !== 'TimeoutError');
}

/** A page that says no has not what was waited for. */
async function ready(page: Page, { status }: MainAnswer, waitFor: string): Promise<void> {
  await page.waitForLoadState('load', { timeout: 0 });
  if (waitFor === 'load' || status >= 400) return;
  if (waitFor === 'networkidle') await page.waitForLoadState('networkidle', { timeout: 0 });
  else await page.waitForSelector(waitFor, { state: 'attached', timeout: 0 });
}

function withoutPage(answer: MainAnswer, host: string): Loaded {
  const { status, headers } = answer;
  if (!answer.isRedirect && !WITHOUT_PAGE.has(status))
    throw new HttpFailure('REJECTED', `${host}: answered with a file that a browser does not show`, {
      hint: "Fetch it with engine: 'http'.",
      sent: true,
    });
  return { status, headers, setCookie: [], body: NOTHING, httpVersion: '1.1' };
}

/** Those of the jar and no others, unless another page of the same identity is at work. */
async function giveCookies({ context, busy }: Identity, cookies: readonly BrowserCookie[]): Promise<void> {
  if (busy === 1) await context.clearCookies();
  if (cookies.length === 0) return;
  await context.addCookies([...cookies]).catch(async () => {
    // One that the browser does not take must not cost the others.
    for (const cookie of cookies) await context.addCookies([cookie]).catch(() => undefined);
  });
}

async function takeCookies({ context }: Identity): Promise<BrowserCookie[]> {
  const cookies = await context.cookies();
  return cookies.map(({ name, value, domain, path, expires, httpOnly, secure, sameSite }) => ({
    name,
    value,
    domain,
    path,
    expires,
    httpOnly,
    secure,
    sameSite,
  }));
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
