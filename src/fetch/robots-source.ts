/** How an attempt finds out what robots.txt of a host says: by the manager, or, if it is appointed, from the host. */
import { Failure } from '../domain/failure.ts';
import { HttpFailure } from '../http/http-failure.ts';
import { classifyAnswer } from '../policy/classify-answer.ts';
import { decodeText } from '../policy/decode-text.ts';
import { hostKey } from '../wire/host-key.ts';
import type { AttemptEgress } from './attempt-egress.ts';
import type { Followed, FollowMode } from './attempt-fetch.ts';
import type { FetchSettings } from './fetch-parts.ts';
import type { LeasePool } from './lease-ports.ts';
import type { Permit } from './permit.ts';
import { readRequest, type PageRequest } from './read-request.ts';
import type { RobotsSource } from './robots-keeper.ts';

export interface RobotsSourceParts {
  readonly egress: AttemptEgress;
  readonly pool: Pick<LeasePool, 'tellRobots'>;
  readonly signal: AbortSignal;
  readonly follow: (request: PageRequest, mode: FollowMode) => Promise<Followed>;
  readonly settings: FetchSettings;
}

/** As RFC 9309 has it: half a megabyte of rules, five redirects. */
const RULES_MAX_CHARACTERS = 500 * 1_024;
const READ_MAX_BYTES = 2_000_000;
const REDIRECTS_MAX = 5;
const TIMEOUT_MS = 30_000;

export function createRobotsSource(parts: RobotsSourceParts, url: URL): RobotsSource {
  const { egress, pool, signal, follow, settings } = parts;
  let scout: Permit | undefined;
  return {
    signal,
    async ask() {
      const permit = await egress.permit(hostKey(url), { signal, fresh: true, heedsRobots: true });
      // Who is sent to the host has leave to ask it once.
      if (permit.robots?.state === 'needed') scout = permit;
      else permit.release({ outcome: 'unsent' });
      return permit.robots;
    },
    async read(from) {
      const options = { maxBytes: READ_MAX_BYTES, maxRedirects: REDIRECTS_MAX, timeoutMs: TIMEOUT_MS };
      const request = readRequest(from, options, { robots: false }, settings);
      const permit = scout;
      scout = undefined;
      try {
        const { hop } = await follow(request, { robots: false, refreshing: true, isRobots: true, permit });
        return rulesIn(hop);
      } catch (error) {
        return rulesAfter(error);
      }
    },
    tell: (news) => pool.tellRobots(news),
  };
}

/** 4xx: there are no rules. Told to slow down, or in trouble: the host could not say. */
function rulesIn(hop: Followed['hop']): string | undefined {
  const { answer } = hop;
  const { status, headers, body } = answer;
  const { outcome, retryAfterMs } = classifyAnswer(answer, [], Date.now());
  if (outcome === 'throttled' || outcome === 'target') {
    hop.conclude(outcome, { retryAfterMs });
    return undefined;
  }
  // A site may guard its rules and still welcome visitors: that blames no egress.
  hop.conclude('ok');
  return status >= 200 && status < 300
    ? decodeText(body, headers['content-type']).slice(0, RULES_MAX_CHARACTERS)
    : '';
}

function rulesAfter(error: unknown): string | undefined {
  if (!(error instanceof Failure)) throw error;
  switch (error.code) {
    case 'NETWORK':
    case 'TIMEOUT':
      return undefined;
    case 'REJECTED': {
      const { cause } = error;
      // A redirect to nowhere: there are no rules.
      if (!(cause instanceof HttpFailure)) return '';
      // The guard of addresses keeps us from the page as well; what is too large was sent for.
      if (!cause.sent) throw error;
      return undefined;
    }
    default:
      throw error;
  }
}
