/** What it means for a task that it got no egress. */
import type { NoEgressReason, WhenNone } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import { hostOfKey } from '../wire/host-key.ts';
import type { Denial } from './permit.ts';

export interface DenialFacts {
  readonly host: string; // as `hostKey` spells it
  readonly whenNone: WhenNone;
  readonly tried: readonly string[];
  readonly now: number; // epoch ms
}

/** There is no way out; with the others there is one, and it is the host that wants us to wait. */
const NO_WAY: ReadonlySet<Denial['reason']> = new Set<NoEgressReason>([
  'no_proxy_available',
  'rate_limited',
  'cap_reached',
  'no_session',
]);

const WORDS: Readonly<Record<Denial['reason'], string>> = {
  no_proxy_available: 'no proxy is available',
  rate_limited: 'every proxy has used up its budget',
  cap_reached: 'this worker holds as many proxies as it may',
  host_closed: 'the host is closed',
  host_busy: 'others use all that the host allows',
  no_session: 'no session is free',
  manager_away: 'the proxy-manager does not answer',
};

const HINTS: Readonly<Partial<Record<Denial['reason'], string>>> = {
  no_proxy_available:
    '`trawl proxies ls` shows them; egress.whenNone of the scraper says what to do without.',
  host_closed: '`trawl hosts show` says why; `trawl hosts open` opens it.',
  manager_away: '`trawl status` shows who is alive; `trawl proxy-manager` starts one.',
};

export function isNoWay({ reason }: Denial): boolean {
  return NO_WAY.has(reason);
}

export function failureOfDenial(denial: Denial, { host, whenNone, tried, now }: DenialFacts): Failure {
  const { reason, retryInMs } = denial;
  // After a wait all of them may be tried again: waiting for a new one could take for ever.
  if (reason === 'no_proxy_available' && tried.length > 0)
    return new Failure('PROXY', `no proxy is left to try for ${hostOfKey(host)} after ${tried.length}`);
  const message = `no way to ${hostOfKey(host)}: ${WORDS[reason]}`;
  if (whenNone === 'fail' && isNoWay(denial))
    return new Failure('REJECTED', message, { hint: HINTS[reason] });
  return new Failure('NO_EGRESS', message, { hint: HINTS[reason], retryAtMs: Math.ceil(now + retryInMs) });
}
