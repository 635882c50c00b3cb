/** What the book knows about, one by one. Each is changed by the functions of the neighbouring files, by nobody else. */
import type {
  EgressCaps,
  HostLimits,
  NoEgressReason,
  ProxyState,
  SessionState,
} from '../../domain/egress.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Due } from './due-heap.ts';
import { countNumbers, type NumberSet } from './number-set.ts';
import type { Closure, ProxyRecord, ProxyStanding, ThrottleScope } from './records.ts';
import type { Meter } from './window.ts';

/** A proxy, the direct egress, or a proxy that is gone while something of it still counts. */
export interface Egress extends Due {
  readonly id: string;
  record: ProxyRecord | undefined;
  caps: EgressCaps;
  readonly meter: Meter;
  usedAt: number; // 0: never
  /** What follows from everything; `standing` is the part that does not follow from leases and requests. */
  state: ProxyState;
  reason: string;
  since: number;
  until: number | undefined;
  standing: ProxyStanding;
  failures: number; // its own, in a row
  /** Where all of them were; undefined: at more than one host. */
  failedAt: string | undefined;
  troubles: number; // on the way to targets, in a row
  goods: number; // since the last failure
  score: number;
  latencyMs: number;
  leases: number;
  exclusive: Lease | undefined;
  /** Until then somebody may hold it of whom we do not know, or may use it more freely than its caps say. */
  unsureUntil: number;
  ready: boolean; // stands in the list of those that may be handed out
  readonly probe: Due & { readonly id: string };
  readonly hash: number;
}

/** One host through one egress. */
export interface Pair {
  readonly host: Host;
  readonly egress: string;
  /** The present one, or the last one for as long as it is worth remembering. */
  closure: Closure | undefined;
  shut: boolean;
  times: number;
  meter: Meter | undefined;
  pacer: Lease | undefined;
  lastStartAt: number;
  score: number;
  latencyMs: number;
  /** It is on record. */
  stored: boolean;
}

export interface Host extends Due {
  readonly name: string;
  own: Partial<HostLimits> | undefined;
  throttleScope: ThrottleScope | undefined;
  readonly asked: Map<string, Partial<HostLimits>>;
  limits: HostLimits; // what holds, all things considered
  closure: Closure | undefined;
  throttles: number;
  blocks: number;
  adaptiveDelayMs: number;
  goods: number;
  /** Leases from before the limits became stricter; undefined: not all of them are known. */
  loose: Set<Lease> | undefined;
  looseUntil: number;
  meter: Meter | undefined;
  readonly leases: Set<Lease>;
  slots: number;
  /** The one that keeps the distance between requests, and the last one's latest start. */
  pacer: Lease | undefined;
  lastStartAt: number;
  readonly pairs: Map<string, Pair>;
  readonly askers: Map<string, number>;
  /** Somebody went without a slot then. */
  shortAt: number;
  readonly blockedOn: Map<string, number>;
  /** Proxies that say they cannot reach it, since it last answered; see `blame`. */
  readonly accusers: Set<string>;
  /** Some of the egresses through which nobody got an answer of it, since it last gave one. */
  readonly silentOn: Set<string>;
  /** When it was last opened: who started before that tells nothing new. */
  openedAt: number;
  tail: number;
  tailBase: number;
  /** No proxy is fit for this host before, as long as the pool is this one. */
  noneUntil: number;
  nonePool: number;
  noneReason: NoEgressReason;
  touchedAt: number;
  storedAt: number; // 0: not on record
}

export interface Lease extends Due {
  readonly id: string;
  readonly worker: string;
  readonly host: Host;
  readonly scraper: string;
  readonly egress: Egress;
  readonly permits: number | null;
  readonly slots: number | null;
  readonly spacingMs: number;
  readonly exclusive: boolean;
  readonly session: Identity | undefined;
  readonly validMs: number;
  readonly grantedAt: number;
  readonly startAt: number;
  startsUntil: number;
  readonly seen: NumberSet;
  unsent: number;
  started: number;
  lastStartAt: number;
  /** Not to be renewed. */
  revoked: boolean;
  over: boolean;
  expired: boolean;
  /** Nobody else may have what it holds, or it counts against a cap: its successor must know of it. */
  readonly kept: boolean;
  stored: boolean;
}

/** A session. */
export interface Identity extends Due {
  readonly id: string;
  readonly host: string;
  readonly scraper: string;
  readonly egress: string;
  state: SessionState;
  userAgent: string;
  headers: Readonly<Record<string, string>>;
  cookies: Secret;
  uses: number;
  errors: number;
  readonly createdAt: number;
  usedAt: number;
  validUntil: number | undefined;
  lease: Lease | undefined;
  /** Who had it last: the only one that may tell news of it. */
  worker: string | undefined;
  gone: boolean;
}

export interface Robots {
  readonly host: string;
  version: number;
  text: string | undefined;
  crawlDelayMs: number;
  until: number;
  failures: number;
  /** Somebody asks the host; nobody else does before then. */
  askedUntil: number;
}

/** Least recently used first; never used is the oldest; then by id. */
export function compareUse(a: Egress, b: Egress): number {
  if (a.usedAt !== b.usedAt) return a.usedAt - b.usedAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** Permits that are neither over nor given back. */
export function leftOf({ permits, seen }: Lease): number {
  return permits === null ? 0 : Math.max(0, permits - countNumbers(seen));
}
