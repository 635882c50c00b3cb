/** Who is logged in at the demo site, by the token of the cookie. */
import { createHash } from 'node:crypto';
import { remember } from './rolling-limit.ts';

export const SESSION_COOKIE = 'sid';

export interface SiteSession {
  readonly user: string;
  uses: number;
  readonly usesMax: number; // after so many it is no longer valid
  readonly ips: Set<string>;
}

export interface Sessions {
  /** Returns the token. */
  open(user: string, usesMax: number): string;
  /** Counts one use from this address; undefined when nobody has this token, or no longer. */
  use(token: string | undefined, ip: string): SiteSession | undefined;
  /** A new token for the session; the old one is worth nothing from now on. */
  rotate(token: string): string | undefined;
  end(token: string): void;
  count(): number;
  /** Sessions that were used from more than one address: whoever keeps a session to its egress has none. */
  mixed(): number;
  clear(): void;
}

const SESSIONS_MAX = 10_000;

export function createSessions(seed: number): Sessions {
  const sessions = new Map<string, SiteSession>();
  const mixed = new Set<SiteSession>();
  let serial = 0;

  const newToken = (): string => {
    serial += 1;
    return createHash('sha256').update(`${seed}/session/${serial}`).digest('hex').slice(0, 32);
  };

  return {
    open(user, usesMax) {
      const token = newToken();
      remember(sessions, token, { user, uses: 0, usesMax, ips: new Set() }, SESSIONS_MAX);
      return token;
    },
    use(token, ip) {
      const session = token === undefined ? undefined : sessions.get(token);
      if (!session || session.uses >= session.usesMax) return undefined;
      session.uses += 1;
      session.ips.add(ip);
      if (session.ips.size > 1) mixed.add(session);
      return session;
    },
    rotate(token) {
      const session = sessions.get(token);
      if (!session) return undefined;
      sessions.delete(token);
      const next = newToken();
      sessions.set(next, session);
      return next;
    },
    end: (token) => void sessions.delete(token),
    count: () => sessions.size,
    mixed: () => mixed.size,
    clear() {
      sessions.clear();
      mixed.clear();
    },
  };
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}
