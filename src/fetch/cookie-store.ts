/** The cookies of one attempt: those of its session, or, without one, some of its own that nobody else sees. */
import { randomUUID } from 'node:crypto';
import { CookieJar } from 'tough-cookie';
import type { BrowserCookie } from '../browser/request.ts';
import { cookiesOf, putCookies } from './browser-cookies.ts';
import type { LiveSession } from './live-session.ts';

export interface Cookies {
  /** The value of the `Cookie` header; empty: none. */
  header(url: URL): string;
  store(setCookie: readonly string[], url: URL): void;
  /** Whose they are: nobody else has this name. */
  readonly identity: string;
  all(): BrowserCookie[];
  /** Those that a browser has after a page, instead of all that were there. */
  replaceAll(cookies: readonly BrowserCookie[]): void;
}

export interface CookieStore {
  of(session: LiveSession | undefined): Cookies;
}

/** A site that sets more than this is not keeping a session. */
const COOKIES_MAX = 100;
const COOKIE_MAX_CHARACTERS = 8_192;

export function createCookieStore(): CookieStore {
  let own: CookieJar | undefined;
  let ownName: string | undefined;
  return {
    of: (session) => ({
      header(url) {
        const jar = session?.jar ?? own;
        return jar ? jar.getCookieStringSync(url.href) : '';
      },
      store(setCookie, url) {
        const jar = session?.jar ?? (own ??= new CookieJar());
        for (const cookie of setCookie.slice(0, COOKIES_MAX))
          if (cookie.length <= COOKIE_MAX_CHARACTERS)
            jar.setCookieSync(cookie, url.href, { ignoreError: true });
        session?.noteCookies();
      },
      get identity() {
        return session?.id ?? (ownName ??= randomUUID());
      },
      all() {
        const jar = session?.jar ?? own;
        return jar ? cookiesOf(jar) : [];
      },
      replaceAll(cookies) {
        const jar = session?.jar ?? (own ??= new CookieJar());
        if (putCookies(jar, cookies)) session?.noteCookies();
      },
    }),
  };
}
