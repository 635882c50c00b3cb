/** What people and metrics see of the egress. No secrets in it. */
import type { EgressCaps, HostLimits, ProxyKind, ProxyState, SessionState } from '../../domain/egress.ts';
import type { Closure, ProbeResult } from './records.ts';

export interface ProxyView {
  readonly id: string;
  readonly kind: ProxyKind;
  /** `host:port`, without credentials. */
  readonly endpoint: string;
  readonly machine?: string | undefined;
  readonly weight: number;
  readonly state: ProxyState;
  readonly reason: string;
  readonly since: number;
  readonly until?: number | undefined;
  readonly caps: EgressCaps;
  /** Granted or sent within the window. */
  readonly usedHour: number;
  readonly usedMinute: number;
  readonly leases: number;
  readonly usedAt: number; // 0: never
  readonly failuresInARow: number;
  /** 0 to 1, of late. */
  readonly score: number;
  readonly latencyMs: number;
  readonly health?: ProbeResult | undefined;
}

export interface HostView {
  readonly host: string;
  readonly state: 'open' | 'closed';
  readonly closure?: Closure | undefined;
  readonly limits: HostLimits;
  readonly adaptiveDelayMs: number;
  readonly crawlDelayMs: number;
  readonly usedHour: number;
  readonly usedMinute: number;
  readonly leases: number;
  readonly slots: number;
  readonly egresses: readonly PairView[];
}

export interface PairView {
  readonly egress: string;
  readonly closure?: Closure | undefined;
  readonly usedHour: number;
  readonly usedMinute: number;
  readonly score: number;
  readonly latencyMs: number;
}

export interface SessionView {
  readonly id: string;
  readonly host: string;
  readonly scraper: string;
  readonly egress: string;
  readonly state: SessionState;
  readonly lease?: string | undefined;
  readonly uses: number;
  readonly errors: number;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly validUntil?: number | undefined;
}

export interface LeaseView {
  readonly id: string;
  readonly worker: string;
  readonly host: string;
  readonly scraper: string;
  readonly egress: string;
  readonly session?: string | undefined;
  readonly exclusive: boolean;
  readonly permits: number | null;
  /** Neither reported nor given back. */
  readonly permitsLeft: number | null;
  readonly slots: number | null;
  readonly grantedAt: number;
  readonly expiresAt: number;
}

export interface Gauges {
  readonly proxiesByState: Readonly<Record<ProxyState, number>>;
  readonly sessionsByState: Readonly<Record<SessionState, number>>;
  readonly leases: number;
  readonly hosts: number;
  readonly hostsClosed: number;
}
