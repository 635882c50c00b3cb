/** One request on its way: permit, headers and cookies, the answer, and what the egress is told about it. */
import { DIRECT, type UseOutcome } from '../domain/egress.ts';
import { asFailure, Failure } from '../domain/failure.ts';
import type { BrowserSlot } from '../browser/engine.ts';
import type { HttpAnswer, HttpRequest } from '../http/engine.ts';
import { outcomeOfFailure } from '../policy/classify-answer.ts';
import type { Engine } from '../scrapers/page.ts';
import type { FetchOutcome, FetchParts } from './fetch-parts.ts';
import type { CookieStore } from './cookie-store.ts';
import type { LiveSession } from './live-session.ts';
import type { Permit } from './permit.ts';
import type { HeaderList } from './profiles.ts';

export interface HopRequest {
  readonly url: URL;
  readonly method: string;
  /** What the handler wants sent. */
  readonly headers: HeaderList;
  readonly body: string | Uint8Array | undefined;
  readonly profile: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly http2: boolean;
  readonly engine: Engine;
  readonly waitFor: string;
}

export interface HopAnswer {
  readonly answer: HttpAnswer;
  readonly egress: string;
  /** The egress hears how it went; once. */
  conclude(
    outcome: UseOutcome,
    facts?: {
      readonly retryAfterMs?: number | undefined;
      readonly counted?: FetchOutcome;
      /** It ends the fetching of a page, and is not only on the way to one. */
      readonly isPage?: boolean;
    },
  ): void;
}

export async function sendHop(
  hop: HopRequest,
  permit: Permit,
  context: {
    readonly parts: Pick<
      FetchParts,
      'engine' | 'settings' | 'profiles' | 'clock' | 'meter' | 'pool' | 'circuits'
    >;
    readonly cookies: CookieStore;
    readonly signal: AbortSignal;
    /** Until its answer is there. */
    readonly limitMs: number;
    /** Where the browser is to open it. */
    readonly slot: BrowserSlot | undefined;
    /** Whether it would have been a page, should no answer come. */
    readonly isPage: boolean;
  },
): Promise<HopAnswer> {
  const { parts, cookies, signal, slot, limitMs, isPage } = context;
  const startedAt = parts.clock.now();
  const { session } = permit;
  const jar = cookies.of(session);
  try {
    session?.adopt(parts.profiles.userAgentOf(hop.profile));
    const answer = await (slot ? sendByBrowser(slot) : sendByHttp());
    return { answer, egress: permit.egress, conclude: (outcome, facts) => release(answer, outcome, facts) };
  } catch (error) {
    const failure = asFailure(error);
    const sent = 'sent' in failure && failure.sent === true;
    const outcome = outcomeOfFailure({ code: failure.code, sent });
    const ms = parts.clock.now() - startedAt;
    const status = 'status' in failure && typeof failure.status === 'number' ? failure.status : undefined;
    permit.release({ outcome, ms, status });
    if (session && outcome !== 'unsent') parts.pool.tellSession(session.news('error'));
    if (outcome !== 'unsent') parts.meter.fetched(outcome, { ms, bytes: 0, host: hop.url.host, isPage });
    throw withProxy(failure, permit.egress);
  }

  async function sendByHttp(): Promise<HttpAnswer> {
    const own = ownHeaders(hop, session, jar.header(hop.url));
    const headers = parts.profiles.headers(hop.profile, hop.url, own);
    const answer = await parts.engine.send({ ...hop, ...wayOf(), headers }, signal);
    if (answer.setCookie.length > 0) jar.store(answer.setCookie, hop.url);
    return answer;
  }

  async function sendByBrowser(browser: BrowserSlot): Promise<HttpAnswer> {
    permit.prepare();
    const headers = ownHeaders(hop, session, '');
    const named = headers.findLast(([name]) => name.toLowerCase() === 'user-agent')?.[1];
    const userAgent = named ?? parts.profiles.userAgentOf(hop.profile);
    const { identity } = jar;
    const request = { ...hop, ...wayOf(), headers, userAgent, identity, cookies: jar.all() };
    const answer = await browser.send(request, signal);
    jar.replaceAll(answer.cookies);
    return answer;
  }

  function wayOf(): Pick<HttpRequest, 'egress' | 'timeouts' | 'onSent'> {
    return {
      egress: { id: permit.egress, address: permit.address },
      timeouts: { ...parts.settings.timeouts, totalMs: limitMs },
      onSent: permit.sent,
    };
  }

  function release(
    answer: HttpAnswer,
    outcome: UseOutcome,
    facts: Parameters<HopAnswer['conclude']>[1] = {},
  ): void {
    const { status, timing, bytesReceived } = answer;
    const { retryAfterMs, counted = outcome, isPage: ends = false } = facts;
    const { totalMs: ms, connectMs, firstByteMs } = timing;
    permit.release({ outcome, ms, connectMs, firstByteMs, status, retryAfterMs });
    if (outcome === 'blocked') parts.circuits.renew(permit);
    if (session) parts.pool.tellSession(session.news(outcome === 'blocked' ? 'error' : 'ok'));
    parts.meter.fetched(counted, { ms, bytes: bytesReceived, host: hop.url.host, status, isPage: ends });
  }
}

function ownHeaders(hop: HopRequest, session: LiveSession | undefined, cookie: string): HeaderList {
  if (!session && cookie === '') return hop.headers;
  const given = hop.headers.find(([name]) => name.toLowerCase() === 'cookie')?.[1];
  const cookies = [cookie, given ?? ''].filter((each) => each !== '').join('; ');
  return [
    ...(session ? [['user-agent', session.userAgent] as const] : []),
    ...Object.entries(session?.headers ?? {}),
    ...hop.headers,
    ...(cookies === '' ? [] : [['Cookie', cookies] as const]),
  ];
}

/** The direct egress is no proxy that another one could stand in for. */
export function withProxy(failure: Failure, egress: string, retryAtMs?: number): Failure {
  return new Failure(failure.code, failure.message, {
    cause: failure,
    hint: failure.hint,
    retryAtMs: retryAtMs ?? failure.retryAtMs,
    ...(egress !== DIRECT && { proxy: egress }),
  });
}
