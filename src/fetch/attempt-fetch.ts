/**
 * Fetching for one attempt of a task. Each hop of a redirect is a request of its own: robots.txt of its host is asked, a
 * permit of its host is needed, and what belongs to another origin stays behind.
 */
import { Failure } from '../domain/failure.ts';
import type { HttpAnswer } from '../http/engine.ts';
import type { CompiledRule } from '../policy/block-rules.ts';
import { decideNextHop, headersAfter, isRedirect } from '../policy/next-hop.ts';
import type { Fetch, FetchOptions, Page, SessionHandle } from '../scrapers/page.ts';
import { hostKey } from '../wire/host-key.ts';
import { createAttemptEgress, type AttemptFacts } from './attempt-egress.ts';
import { createCookieStore } from './cookie-store.ts';
import type { FetchParts } from './fetch-parts.ts';
import { judgePage } from './judge-page.ts';
import { makePage } from './make-page.ts';
import type { CachedPage } from './page-cache.ts';
import type { Permit } from './permit.ts';
import { conditional, readRequest, type PageRequest } from './read-request.ts';
import type { RobotsSource } from './robots-keeper.ts';
import { createRobotsSource } from './robots-source.ts';
import { sendHop, withProxy, type HopAnswer } from './send-hop.ts';
import { createSpacing } from './spacing.ts';

export interface AttemptFetch {
  readonly fetch: Fetch;
  session(): SessionHandle | undefined;
  counts(): { readonly pages: number; readonly bytes: number };
  /** Ends what is still under way, and lets go of what only this attempt could use. */
  close(): void;
}

export interface AttemptFetchFacts extends AttemptFacts {
  readonly rules: readonly CompiledRule[];
  /** Aborted when the attempt shall end; and by us, when it is over with something still under way. */
  readonly life: AbortController;
}

export interface Followed {
  readonly hop: HopAnswer;
  readonly url: URL;
  readonly redirects: readonly string[];
}

export interface FollowMode {
  readonly robots: boolean;
  readonly refreshing?: boolean;
  /** It is robots.txt itself that is asked for. */
  readonly isRobots?: boolean;
  /** For the first hop. */
  readonly permit?: Permit | undefined;
}

/** One for all attempts: noting where it came from would cost each of them more than the rest of its end. */
const OVER = new Failure('CANCELLED', 'the attempt is over');

export function createAttemptFetch(facts: AttemptFetchFacts, parts: FetchParts): AttemptFetch {
  const { scraper, rules, life } = facts;
  const { signal } = life;
  const { pool, clock, settings, cache } = parts;
  const cookies = createCookieStore();
  const egress = createAttemptEgress(facts, parts, (url, options) => fetchPage(url, options, true));
  const spacing = createSpacing(clock, signal);
  const counts = { pages: 0, bytes: 0 };
  let underWay = 0;

  return {
    fetch: (url, options) => fetchPage(url, options, false),
    session: () => egress.session(),
    counts: () => counts,
    close() {
      if (underWay > 0) life.abort(OVER);
      egress.close();
    },
  };

  async function fetchPage(
    given: string | URL,
    options: FetchOptions = {},
    refreshing: boolean,
  ): Promise<Page> {
    const request = readRequest(given, options, scraper, settings);
    signal.throwIfAborted();
    underWay += 1;
    try {
      const cached = request.cache ? cache.find(cacheKey(request)) : undefined;
      const rest = spacing.wait(request.delayMs);
      if (rest) await rest;
      const { robots } = request;
      const followed = await follow(cached ? conditional(request, cached) : request, { robots, refreshing });
      spacing.answered();
      return await conclude(request, followed, cached);
    } finally {
      underWay -= 1;
    }
  }

  function cacheKey({ profile, url }: PageRequest): string {
    return `${scraper.name} ${profile} ${egress.session()?.id ?? ''} ${url.href}`;
  }

  async function follow(request: PageRequest, mode: FollowMode): Promise<Followed> {
    let hop = request;
    let leftMs = request.timeoutMs;
    const redirects: string[] = [];
    const seen = new Set<string>();
    for (;;) {
      const given = redirects.length === 0 ? mode.permit : undefined;
      const sent = await sendOne(hop, leftMs, mode, given);
      const { answer } = sent;
      counts.bytes += answer.bytesReceived;
      leftMs = Math.max(1, leftMs - answer.timing.totalMs);
      if (!isRedirect(answer.status) || request.maxRedirects === 0) {
        return { hop: sent, url: hop.url, redirects };
      }
      sent.conclude('ok');
      redirects.push(hop.url.href);
      hop = nextHop(hop, answer, { redirects, seen });
    }
  }

  /** A page of the browser first: a permit must not wait for one. */
  async function sendOne(
    hop: PageRequest,
    limitMs: number,
    mode: FollowMode,
    given: Permit | undefined,
  ): Promise<HopAnswer> {
    const asked = mode.robots ? parts.robots.check(hop.url, () => robotsSource(hop.url)) : undefined;
    if (asked) await asked;
    const slot = hop.engine === 'browser' ? await parts.browser.reserve(signal) : undefined;
    try {
      const permit = given ?? permitFor(hop.url, mode);
      const context = { parts, cookies, signal, slot, limitMs, isPage: !mode.isRobots };
      return await sendHop(hop, permit instanceof Promise ? await permit : permit, context);
    } finally {
      slot?.release();
    }
  }

  function robotsSource(url: URL): RobotsSource {
    return createRobotsSource({ egress, pool, signal, follow, settings }, url);
  }

  function permitFor(
    url: URL,
    { robots: heedsRobots, refreshing = false }: FollowMode,
  ): Permit | Promise<Permit> {
    return egress.permit(hostKey(url), { signal, heedsRobots, refreshing });
  }

  /** In a circle only if nothing has changed: many sites set a cookie and send the visitor to the same page again. */
  function nextHop(
    hop: PageRequest,
    { status, headers }: HttpAnswer,
    { redirects, seen }: { redirects: readonly string[]; seen: Set<string> },
  ): PageRequest {
    const { host } = hop.url;
    if (redirects.length > hop.maxRedirects)
      throw new Failure('REJECTED', `${host} redirects more than ${hop.maxRedirects} times`);
    const next = decideNextHop({
      from: hop.url,
      status,
      location: headers['location'],
      method: hop.method,
    });
    if (next.kind === 'refused') throw new Failure('REJECTED', `${host} answered with ${next.message}`);
    const { url, method, keepsBody } = next.hop;
    const state = `${method} ${url.href} ${cookies.of(egress.session()).header(url)}`;
    if (seen.has(state)) throw new Failure('REJECTED', `${host} redirects in a circle`);
    seen.add(state);
    return {
      ...hop,
      url,
      method,
      body: keepsBody ? hop.body : undefined,
      headers: headersAfter(hop.headers, next.hop),
    };
  }

  async function conclude(
    request: PageRequest,
    { hop, url, redirects }: Followed,
    cached: CachedPage | undefined,
  ): Promise<Page> {
    const notModified = hop.answer.status === 304;
    const fromCache = notModified && cached !== undefined;
    const answer = fromCache ? { ...cached.answer, timing: hop.answer.timing } : hop.answer;
    const page = makePage(answer, { url: url.href, egress: hop.egress, redirects, fromCache, notModified });
    const verdict = judgeSafely(page, request, hop);
    const { outcome, retryAfterMs, soft, code } = verdict;
    hop.conclude(outcome, { retryAfterMs, isPage: true, ...(soft && { counted: 'soft_block' }) });
    if (code === undefined) {
      counts.pages += 1;
      if (request.cache && answer.status === 200 && !fromCache) cache.keep(cacheKey(request), answer);
      return page;
    }
    const failure = new Failure(code, `${url.host} answered with ${verdict.reason}`);
    const retryAtMs = code === 'THROTTLED' ? await reopensAt(url, retryAfterMs) : undefined;
    throw withProxy(failure, hop.egress, retryAtMs);
  }

  /** A scraper whose own judgement fails has still used the permit. */
  function judgeSafely(page: Page, request: PageRequest, hop: HopAnswer): ReturnType<typeof judgePage> {
    try {
      return judgePage(page, { scraper, rules, accept: request.accept, now: clock.epoch() });
    } catch (error) {
      hop.conclude('ok', { isPage: true });
      throw error;
    }
  }

  /** The manager decides for how long the host is closed; if it is not, another egress may do at once. */
  async function reopensAt(url: URL, retryAfterMs: number | undefined): Promise<number | undefined> {
    const closedMs = await pool.closedFor(hostKey(url));
    const waitMs = closedMs ?? retryAfterMs;
    return waitMs === undefined ? undefined : Math.ceil(clock.epoch() + waitMs);
  }
}
