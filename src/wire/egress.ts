/**
 * What workers and the proxy-manager say to each other, as msgpack on `trawl.egress.<verb>`. Times are relative, because clocks
 * differ: a worker counts `startInMs` from the answer's arrival, and `validMs` from when it sent the question, so
 * that it is never ahead of the manager.
 */
import type { HostLimits, NoEgressReason, Selection, UseOutcome, Via } from '../domain/egress.ts';

/** One host, as many requests as the worker expects to send soon. */
export interface Want {
  readonly host: string; // as `hostKey` spells it
  readonly scraper: string;
  readonly count: number;
  /** Requests at once that the worker could use. */
  readonly slots: number;
  readonly via: Via;
  readonly select: Selection;
  /** Of what a task may hold, nobody else gets a part. */
  readonly exclusive: boolean;
  /** Egresses that this task has tried. */
  readonly tried: readonly string[];
  /** Only this one: the task has begun with it. */
  readonly only?: string | undefined;
  /** For `sticky`: the same key gets the same proxy as long as that one is fit. */
  readonly stickTo?: string | undefined;
  /** `any`: with a session, an old one or a new one. */
  readonly session?: 'any' | { readonly id: string } | undefined;
  /** Limits that the scraper brings along; the stricter one counts. */
  readonly limits?: Partial<HostLimits> | undefined;
  /** The version of the host's robots rules that the worker has; `ignored`: the scraper does not heed them. */
  readonly robots?: number | 'ignored' | undefined;
}

export interface AcquireRequest {
  readonly worker: string;
  /** The machine: some proxies listen on one machine only. */
  readonly machine: string;
  readonly wants: readonly Want[];
}

export interface LeaseSession {
  readonly id: string;
  readonly state: 'fresh' | 'valid';
  readonly userAgent: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON of the jar; on the way, sealed, together with the headers. */
  readonly cookies: string;
  readonly validUntil?: number | undefined; // epoch ms
}

export interface LeaseGrant {
  readonly id: string;
  readonly host: string;
  readonly egress: string;
  /** `socks5://user:password@host:port`; absent for the direct egress. Sealed where the cluster has a key. */
  readonly url?: string | undefined;
  /** Where Tor takes its commands, if this egress is one. */
  readonly control?: string | undefined;
  readonly permits: number | null; // null: no limit
  readonly slots: number | null;
  readonly spacingMs: number;
  readonly jitter: number;
  readonly startInMs: number;
  readonly validMs: number;
  readonly session?: LeaseSession | undefined;
}

/** What robots.txt says to us. `needed`: nobody knows, and this worker is the one to ask the host. */
export type RobotsAdvice =
  | { readonly state: 'known'; readonly version: number; readonly text: string; readonly untilInMs: number }
  | { readonly state: 'same' }
  | { readonly state: 'needed' }
  /** Another worker asks the host just now. No lease comes with it: how fast the host may be asked is not known yet. */
  | { readonly state: 'coming'; readonly retryInMs: number }
  | { readonly state: 'ignored' };

export type WantAnswer =
  | {
      readonly kind: 'granted';
      readonly leases: readonly LeaseGrant[];
      readonly robots: RobotsAdvice;
    }
  | { readonly kind: 'none'; readonly reason: NoEgressReason; readonly retryInMs: number };

export interface AcquireReply {
  readonly answers: readonly WantAnswer[];
}

/** One request that was sent, or will not be. */
export interface Use {
  readonly lease: string;
  /** Its number within the lease, from 0: a report that comes twice is counted once. */
  readonly n: number;
  /** So many that went the same way, numbered from `n` on; 1 without it. */
  readonly times?: number | undefined;
  readonly outcome: UseOutcome;
  /** When it was sent, before this report was. */
  readonly startedAgoMs: number;
  readonly ms: number;
  readonly status?: number | undefined;
  /** What the host asked for. */
  readonly retryAfterMs?: number | undefined;
}

export interface SessionNews {
  readonly id: string;
  readonly verdict: 'ok' | 'error' | 'invalid' | 'retire';
  /** Absent: as they were. Sealed like those of a lease. */
  readonly cookies?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly userAgent?: string | undefined;
  readonly validUntil?: number | undefined;
}

/** `text` is absent where the host could not say (5xx, no answer): then nothing may be fetched until it can. */
export interface RobotsNews {
  readonly host: string;
  readonly text?: string | undefined;
  readonly crawlDelayMs?: number | undefined;
  readonly keepMs: number;
}

/** Requests under way. */
export interface Started {
  readonly lease: string;
  /** How many have been sent under it so far in all, whether they are over or not. */
  readonly count: number;
  /** When the latest was sent, before this report was. */
  readonly latestAgoMs: number;
}

export interface EgressReport {
  readonly worker: string;
  readonly uses: readonly Use[];
  /** Of leases that keep a distance: the next one may have its turn while a slow page is still loading. */
  readonly started?: readonly Started[] | undefined;
  /** Leases that the worker gives back; what was not used of them is free again. */
  readonly done: readonly string[];
  /** Leases that it goes on holding. */
  readonly renew: readonly string[];
  readonly sessions: readonly SessionNews[];
  readonly robots: readonly RobotsNews[];
}

export interface ReportReply {
  /** Leases that are over, whatever the worker believes: expired, revoked, unknown to this leader. */
  readonly ended: readonly string[];
  /** Hosts that are closed to everybody, and for how long. */
  readonly closed: readonly { readonly host: string; readonly forMs: number }[];
}
