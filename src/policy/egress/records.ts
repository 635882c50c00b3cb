/**
 * What the owner of the egress must not forget, as plain data: what its successor needs to go on without breaking a
 * promise. Times are epoch ms. Each record is stored under `recordKey`.
 *
 *   proxy    a proxy, and what people and its own failures made of it
 *   host     limits, closure and slow-down of a host
 *   spent    requests through an egress that still count against its caps
 *   pair     the same for one host through one egress, and whether the host wants it
 *   lease    what a worker holds that nobody else may have, or that counts against a cap; it stays for a while after
 *            its end where the next lease has to keep its distance from it
 *   session  who we are at a host
 *   robots   what robots.txt said
 *   open     until when leases may be used that are not on record, because they hold nothing scarce
 */
import type { EgressCaps, HostLimits, ProxyAddress, ProxyState, Session } from '../../domain/egress.ts';
import type { Secret } from '../../domain/secret.ts';
import type { LeaseRecord, OpenRecord, PairRecord, SpentRecord } from './kept-records.ts';

export interface ProxyRecord {
  readonly type: 'proxy';
  readonly id: string;
  readonly address: ProxyAddress;
  /** As it goes into `LeaseGrant.control`: where Tor takes its commands. */
  readonly control?: Secret | undefined;
  /** Absent: the usual ones. */
  readonly caps?: EgressCaps | undefined;
  readonly weight: number;
  /** It listens on this machine alone. */
  readonly machine?: string | undefined;
  /** Every lease of it is an exclusive one, whether or not the scraper asks for that. */
  readonly exclusive?: boolean | undefined;
  /** For people, to tell proxies apart by. */
  readonly tags?: readonly string[] | undefined;
  /** Absent: as new. A change by people leaves it out and changes nothing of it. */
  readonly standing?: ProxyStanding | undefined;
}

/** What does not follow from leases and spent requests. */
export interface ProxyStanding {
  readonly state: 'available' | 'cooling' | 'disabled' | 'frozen';
  readonly reason: string;
  readonly since: number;
  readonly until?: number | undefined;
  /** How often in a row it was disabled; each time lasts twice as long. */
  readonly times: number;
  readonly health?: ProbeResult | undefined;
}

export interface ProbeResult {
  readonly lastCheck: number;
  readonly isHealthy: boolean;
  readonly responseMs?: number | undefined;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
}

export type ThrottleScope = 'host' | 'egress';

export interface HostRecord {
  readonly type: 'host';
  readonly host: string;
  /** By people; absent: the usual ones. */
  readonly limits?: Partial<HostLimits> | undefined;
  /** Whom a throttled request closes the host for, where the limits do not tell: everybody, or its egress. */
  readonly throttleScope?: ThrottleScope | undefined;
  /** A change by people leaves it out and changes nothing of it. */
  readonly standing?: HostStanding | undefined;
}

export interface HostStanding {
  readonly closure?: Closure | undefined;
  /** Closures in a row; each lasts twice as long. */
  readonly throttles: number;
  readonly blocks: number;
  readonly adaptiveDelayMs: number;
  /** What scrapers asked for, by name. */
  readonly asked: Readonly<Record<string, Partial<HostLimits>>>;
  /** Leases from before the limits became stricter may be used until then. */
  readonly looseUntil: number;
}

export interface Closure {
  readonly reason: string;
  readonly since: number;
  /** Absent: until a person opens it. */
  readonly until?: number | undefined;
}

export interface SessionRecord extends Session {
  readonly type: 'session';
}

export interface RobotsRecord {
  readonly type: 'robots';
  readonly host: string;
  readonly version: number;
  /** Absent: the host has never said. */
  readonly text?: string | undefined;
  readonly crawlDelayMs: number;
  /** To be asked again then. */
  readonly until: number;
  /** Vain questions in a row. */
  readonly failures: number;
}

export type EgressRecord =
  | ProxyRecord
  | HostRecord
  | SpentRecord
  | PairRecord
  | LeaseRecord
  | SessionRecord
  | RobotsRecord
  | OpenRecord;

/** All that is stored, in any order. */
export type EgressRecords = Iterable<EgressRecord>;

/** `key` is as `recordKey` spells it. A record with `ttlMs` means nothing after that. */
export type EgressWrite =
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly record: EgressRecord;
      readonly ttlMs?: number | undefined;
    }
  | { readonly kind: 'remove'; readonly key: string };

export function recordKey(record: EgressRecord): string {
  switch (record.type) {
    case 'proxy':
    case 'lease':
    case 'session':
      return `${record.type}.${record.id}`;
    case 'host':
    case 'robots':
      return `${record.type}.${record.host}`;
    case 'spent':
      return `spent.${record.egress}`;
    case 'pair':
      return `pair.${record.egress}.${record.host}`;
    case 'open':
      return 'open.leases';
  }
}

/** A change of state, for whoever watches. Names no secret. */
export type EgressEvent =
  | {
      readonly kind: 'proxy';
      readonly id: string;
      readonly from: ProxyState | 'none';
      readonly to: ProxyState | 'removed';
      readonly reason: string;
      readonly at: number;
      readonly until?: number | undefined;
    }
  | {
      /** `egress`: closed or opened for that one alone. */
      readonly kind: 'host';
      readonly host: string;
      readonly egress?: string | undefined;
      readonly to: 'closed' | 'open' | 'slower' | 'faster';
      readonly reason: string;
      readonly at: number;
      readonly until?: number | undefined;
      readonly delayMs?: number | undefined;
    }
  | {
      readonly kind: 'session';
      readonly id: string;
      readonly host: string;
      readonly egress: string;
      readonly to: Session['state'];
      readonly reason: string;
      readonly at: number;
    };
