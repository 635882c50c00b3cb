/**
 * Where a redirect leads. The caller counts the hops, and sends what this returns like any other request, so that
 * politeness, robots and the guard of addresses look at every hop.
 */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  /** The body goes along only where the method stays. */
  readonly keepsBody: boolean;
  /** Another origin: cookies of the old one, `authorization` and the like must not be sent there. */
  readonly crossesOrigin: boolean;
}

export type NextHop =
  | { readonly kind: 'hop'; readonly hop: Hop }
  | { readonly kind: 'refused'; readonly reason: RefusedHop; readonly message: string };

export type RefusedHop = 'no-location' | 'unreadable' | 'scheme' | 'userinfo';

export interface Redirect {
  readonly from: URL;
  readonly status: number;
  readonly location: string | undefined;
  readonly method: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that belong to the origin they were meant for. */
const OF_ONE_ORIGIN: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'host',
]);
const OF_A_BODY = /^content-/;

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

export function decideNextHop({ from, status, location, method }: Redirect): NextHop {
  if (location === undefined || location.trim() === '') {
    return refused('no-location', `a redirect with status ${status} that does not say where to`);
  }
  const url = readUrl(location, from);
  if (!url) return refused('unreadable', 'a redirect to something that is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refused(
      'scheme',
      `a redirect to ${url.protocol.slice(0, 20)}, and only http and https are followed`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    return refused('userinfo', 'a redirect to a URL with a user and password in it');
  }
  // A fragment is inherited, as browsers do, and never sent.
  if (url.hash === '') url.hash = from.hash;
  const next = methodAfter(status, method);
  return {
    kind: 'hop',
    hop: { url, method: next, keepsBody: next === method, crossesOrigin: url.origin !== from.origin },
  };
}

/** The headers of the request as they go along with the hop, in their order. */
export function headersAfter(
  headers: readonly (readonly [string, string])[],
  hop: Hop,
): (readonly [string, string])[] {
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    if (hop.crossesOrigin && OF_ONE_ORIGIN.has(lower)) return false;
    return hop.keepsBody || !OF_A_BODY.test(lower);
  });
}

/** As the fetch standard has it: 303 turns all but HEAD into GET, 301 and 302 turn POST into GET. */
function methodAfter(status: number, method: string): string {
  if (status === 303) return method === 'HEAD' ? 'HEAD' : 'GET';
  return (status === 301 || status === 302) && method === 'POST' ? 'GET' : method;
}

function readUrl(location: string, from: URL): URL | undefined {
  try {
    return new URL(location, from);
  } catch {
    return undefined;
  }
}

function refused(reason: RefusedHop, message: string): NextHop {
  return { kind: 'refused', reason, message };
}
