/**
 * The words of egress: a request leaves the cluster through an *egress* (a proxy, or directly), by the leave of a
 * *lease* that the proxy-manager grants for one host. A lease says how many requests may be sent in all (`permits`),
 * how many at once (`slots`), how far apart (`spacingMs`), and for how long.
 */
import type { Secret } from './secret.ts';

/** The egress that is no proxy: out of the worker's own address. */
export const DIRECT = 'direct';

export const PROXY_KINDS = ['http', 'https', 'socks5'] as const;
export type ProxyKind = (typeof PROXY_KINDS)[number];

/**
 *   available     may be handed out
 *   leased        held by one worker alone
 *   rate_limited  its budget is used up; free again at `until`
 *   cooling       rests after trouble that was not its fault alone; free again at `until`
 *   disabled      failed too often, or its health probe does; free again when a probe passes or `until` comes
 *   frozen        a person took it out; a person brings it back
 */
export const PROXY_STATES = ['available', 'leased', 'rate_limited', 'cooling', 'disabled', 'frozen'] as const;
export type ProxyState = (typeof PROXY_STATES)[number];

export const SELECTIONS = ['lru', 'random', 'weighted', 'sticky'] as const;
export type Selection = (typeof SELECTIONS)[number];

/** How a scraper leaves the cluster: `auto` takes a proxy as soon as the pool has one, and goes directly before. */
export const VIAS = ['auto', 'direct', 'proxy'] as const;
export type Via = (typeof VIAS)[number];

/** What a scraper does when no egress is free: wait for one, go directly, or fail the task. */
export const WHEN_NONE = ['wait', 'direct', 'fail'] as const;
export type WhenNone = (typeof WHEN_NONE)[number];

/** Where a proxy listens, and how it knows us. */
export interface ProxyAddress {
  readonly kind: ProxyKind;
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
}

/** 0 = no limit. */
export interface EgressCaps {
  readonly perHour: number;
  readonly perMinute: number;
}

/** What one host asks of everybody together. 0 = no limit. */
export interface HostLimits extends EgressCaps {
  /** Between the starts of two requests, whoever sends them. */
  readonly delayMs: number;
  /** Between two requests through one egress. */
  readonly egressDelayMs: number;
  /** Every delay is stretched by a random part of itself up to this; 0.5 = up to half as long again. */
  readonly jitter: number;
  readonly concurrency: number;
  /** Through one egress. */
  readonly egressCaps: EgressCaps;
}

/**
 * How one request ended, as far as the egress is concerned.
 *
 *   ok         the target answered, be it with 404
 *   throttled  told to slow down (429, 503 with Retry-After)
 *   blocked    this egress is not welcome at this host (403, a captcha, a ban page)
 *   target     the target is in trouble (5xx)
 *   proxy      the egress is at fault: refused, 407, 502 of the proxy's own, broken handshake
 *   network    the connection to the target failed or broke
 *   timeout    no answer in time
 *   unsent     never left: given back
 */
export const USE_OUTCOMES = [
  'ok',
  'throttled',
  'blocked',
  'target',
  'proxy',
  'network',
  'timeout',
  'unsent',
] as const;
export type UseOutcome = (typeof USE_OUTCOMES)[number];

/** Why nothing was granted. */
export const NO_EGRESS_REASONS = [
  'no_proxy_available', // none exists, or none that this task has not tried
  'rate_limited', // every proxy has used up its budget
  'cap_reached', // this worker holds as many proxies as it may
  'host_closed', // the host asked for rest, or a person closed it
  'host_busy', // others use all that the host allows
  'no_session', // no session of this host is free
] as const;
export type NoEgressReason = (typeof NO_EGRESS_REASONS)[number];

export const SESSION_STATES = ['fresh', 'valid', 'invalid', 'retired'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** Who we are at one host through one egress. The parts belong together and are never mixed. */
export interface Session {
  readonly id: string;
  readonly host: string;
  readonly scraper: string;
  readonly egress: string;
  readonly state: SessionState;
  readonly userAgent: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The jar as `tough-cookie` serialises it, as JSON text; secret. */
  readonly cookies: Secret;
  readonly uses: number;
  readonly errors: number;
  readonly createdAt: number; // epoch ms
  readonly usedAt: number; // epoch ms
  readonly validUntil?: number | undefined; // epoch ms
}
