/** Grants without a proxy-manager, for one task here and now: always directly, at the pace that the scraper asks for. */
import { DIRECT } from '../domain/egress.ts';
import type { LeaseGrant, RobotsAdvice, Want } from '../wire/egress.ts';
import type { EgressPort } from './lease-ports.ts';

const VALID_MS = 15_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export function createLocalEgress(): EgressPort {
  const robotsKnown = new Set<string>();
  let count = 0;
  return {
    async acquire({ wants }) {
      return {
        answers: wants.map((want) => ({ kind: 'granted', leases: [grant(want)], robots: robotsOf(want) })),
      };
    },
    async report({ robots }) {
      for (const { host } of robots) robotsKnown.add(host);
      return { ended: [], closed: [] };
    },
    onNews: () => () => undefined,
  };

  function grant({ host, session, limits = {} }: Want): LeaseGrant {
    count += 1;
    const { delayMs = 0, perMinute = 0, perHour = 0 } = limits;
    const paces = [delayMs, perMinute > 0 ? MINUTE_MS / perMinute : 0, perHour > 0 ? HOUR_MS / perHour : 0];
    return {
      id: `local-${count}`,
      host,
      egress: DIRECT,
      permits: null,
      slots: limits.concurrency !== undefined && limits.concurrency > 0 ? limits.concurrency : null,
      spacingMs: Math.max(...paces),
      jitter: 0,
      startInMs: 0,
      validMs: VALID_MS,
      ...(session !== undefined && {
        session: { id: `local-${host}`, state: 'fresh', userAgent: '', headers: {}, cookies: '' },
      }),
    };
  }

  function robotsOf({ host, robots }: Want): RobotsAdvice {
    if (robots === 'ignored') return { state: 'ignored' };
    return { state: robotsKnown.has(host) ? 'same' : 'needed' };
  }
}
