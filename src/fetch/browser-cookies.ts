/** Cookies of a jar as a browser has them, and back. */
import { Cookie, type CookieJar } from 'tough-cookie';
import type { BrowserCookie } from '../browser/request.ts';

/** A browser keeps no more per site either. */
const COOKIES_MAX = 180;
const SAME_SITE: Readonly<Record<string, BrowserCookie['sameSite']>> = {
  strict: 'Strict',
  lax: 'Lax',
  none: 'None',
};

export function cookiesOf(jar: CookieJar): BrowserCookie[] {
  const now = Date.now();
  const stored = jar.serializeSync()?.cookies ?? [];
  return stored.flatMap((raw) => {
    const cookie = Cookie.fromJSON(raw);
    const expiresMs = cookie?.expiryTime() ?? Infinity;
    if (!cookie || cookie.domain === null || expiresMs <= now) return [];
    const { key: name, value, domain, path, hostOnly, httpOnly, secure, sameSite } = cookie;
    return {
      name,
      value,
      domain: hostOnly === false ? `.${domain}` : domain,
      path: path ?? '/',
      expires: expiresMs === Infinity ? -1 : expiresMs / 1_000,
      httpOnly,
      secure,
      sameSite: SAME_SITE[sameSite ?? ''] ?? 'Lax',
    };
  });
}

/** False: they are the same. */
export function putCookies(jar: CookieJar, cookies: readonly BrowserCookie[]): boolean {
  if (digest(cookiesOf(jar)) === digest(cookies)) return false;
  jar.removeAllCookiesSync();
  for (const { name, value, domain, path, expires, httpOnly, secure, sameSite } of cookies.slice(
    0,
    COOKIES_MAX,
  )) {
    const isWide = domain.startsWith('.');
    const host = isWide ? domain.slice(1) : domain;
    const cookie = new Cookie({
      key: name,
      value,
      path,
      httpOnly,
      secure,
      sameSite: sameSite.toLowerCase(),
      ...(isWide && { domain: host }),
      expires: expires < 0 ? 'Infinity' : new Date(expires * 1_000),
    });
    jar.setCookieSync(cookie, `${secure ? 'https' : 'http'}://${host}${path}`, { ignoreError: true });
  }
  return true;
}

function digest(cookies: readonly BrowserCookie[]): string {
  const lines = cookies.map((cookie) =>
    JSON.stringify([cookie.domain, cookie.path, cookie.name, cookie.value, Math.round(cookie.expires)]),
  );
  return lines.sort().join('\n');
}
