/**
 * The way out of one attempt: every request of it leaves through the egress that the first one got, and as the same
 * session at a host. A session is looked at before it is used; one that is not valid makes no request.
 */
import { DIRECT } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import type { TaskMessage } from '../domain/task.ts';
import type { Fetch } from '../scrapers/page.ts';
import type { Scraper } from '../scrapers/scraper.ts';
import { failureOfDenial, isNoWay } from './denial-failure.ts';
import { goDirectly, ignoreRobots, type EgressPolicy } from './egress-policy.ts';
import type { FetchParts } from './fetch-parts.ts';
import type { LiveSession } from './live-session.ts';
import type { Permit, PermitRequest } from './permit.ts';

export interface AttemptEgress {
  /** Throws a `Failure` where there is none. Not a promise where one is in hand, as it is for most pages. */
  permit(host: string, mode: PermitMode): Permit | Promise<Permit>;
  session(): LiveSession | undefined;
  close(): void;
}

export interface PermitMode {
  readonly signal: AbortSignal;
  readonly heedsRobots: boolean;
  /** For the sake of robots.txt: asks the manager, and needs no session. */
  readonly fresh?: boolean;
  /** Within the refresh of a session: it is used as it is. */
  readonly refreshing?: boolean;
}

export interface AttemptFacts {
  readonly task: Pick<TaskMessage, 'spec' | 'triedProxies'>;
  readonly scraper: Scraper;
  /** What the scraper says about its egress. */
  readonly policy: EgressPolicy;
}

const REFRESHES_MAX = 2;
const NEXT_SESSION_MS = 1_000;

export function createAttemptEgress(
  { task, scraper, policy: wanted }: AttemptFacts,
  parts: Pick<FetchParts, 'pool' | 'clock' | 'circuits'>,
  fetchToRefresh: Fetch,
): AttemptEgress {
  const { pool, clock } = parts;
  const owner = {};
  const tried = task.triedProxies;
  const sessions = new Map<string, string>();
  let policy = wanted;
  let egress: string | undefined;
  let current: LiveSession | undefined;
  let refreshing: Promise<void> | undefined;
  const stickTo = policy.select === 'sticky' ? stickKeyOf({ task, scraper }) : undefined;

  return {
    permit(host, mode) {
      if (policy.session || mode.fresh === true) return permitWith(host, mode);
      const permit = pool.take(requestFor(host, mode));
      if (!permit) return permitWith(host, mode);
      egress ??= permit.egress;
      return permit;
    },
    session: () => current,
    close: () => pool.letGo(owner),
  };

  async function permitWith(host: string, mode: PermitMode): Promise<Permit> {
    for (let tries = 0; ; tries += 1) {
      const permit = await acquire(host, mode);
      const { session } = permit;
      if (mode.fresh !== true) egress ??= permit.egress;
      if (!session || mode.fresh === true || mode.refreshing === true) return permit;
      sessions.set(host, session.id);
      current = session;
      if (isFit(session)) return permit;
      permit.release({ outcome: 'unsent' });
      await refreshOnce(session, permit, tries);
    }
  }

  async function acquire(host: string, mode: PermitMode): Promise<Permit> {
    for (;;) {
      const answer = await pool.acquire(requestFor(host, mode), mode.signal);
      if (answer.kind === 'permit') return answer;
      if (mayGoDirectly() && isNoWay(answer)) {
        policy = goDirectly(policy);
        continue;
      }
      const avoided = egress === undefined ? tried : [];
      throw failureOfDenial(answer, {
        host,
        whenNone: policy.whenNone,
        tried: avoided,
        now: clock.epoch(),
      });
    }
  }

  /** Never in the middle of a task: a site would see one visitor with two addresses. */
  function mayGoDirectly(): boolean {
    return policy.whenNone === 'direct' && policy.via !== 'direct' && egress === undefined;
  }

  function requestFor(host: string, { fresh, heedsRobots }: PermitMode): PermitRequest {
    const by = heedsRobots ? policy : ignoreRobots(policy);
    return {
      host,
      scraper: scraper.name,
      policy: by,
      tried: egress === undefined && by.via !== 'direct' ? tried : [],
      only: egress,
      stickTo,
      session: sessions.get(host),
      owner,
      begun: egress !== undefined,
      fresh,
    };
  }

  function isFit(session: LiveSession): boolean {
    if (session.isInvalid()) return false;
    if (session.validUntil !== undefined && session.validUntil <= clock.epoch()) return false;
    return scraper.isSessionValid?.(session) ?? true;
  }

  /** Pages that are fetched side by side wait for one sign-in. */
  function refreshOnce(session: LiveSession, permit: Permit, tries: number): Promise<void> {
    refreshing ??= refresh(session, permit, tries).finally(() => (refreshing = undefined));
    return refreshing;
  }

  async function refresh(session: LiveSession, permit: Permit, tries: number): Promise<void> {
    if (scraper.refreshSession && tries < REFRESHES_MAX && !session.isInvalid()) {
      try {
        await scraper.refreshSession({ session, fetch: fetchToRefresh });
      } catch (error) {
        pool.tellSession(session.news('error'));
        throw error;
      }
      if (isFit(session)) {
        session.markValid();
        pool.tellSession(session.news('ok'));
        return;
      }
    }
    session.invalidate();
    permit.discard();
    pool.tellSession(session.news('invalid'));
    parts.circuits.renew(permit);
    throw new Failure('NO_EGRESS', `the session ${session.id} is not valid any more`, {
      retryAtMs: clock.epoch() + NEXT_SESSION_MS,
      ...(permit.egress !== DIRECT && { proxy: permit.egress }),
    });
  }
}

function stickKeyOf({ task: { spec }, scraper }: Pick<AttemptFacts, 'task' | 'scraper'>): string {
  return scraper.egress?.stickTo?.(spec) ?? spec.run;
}
