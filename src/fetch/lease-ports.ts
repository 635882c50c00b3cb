/** What the pool of leases needs, and what it offers. */
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type {
  AcquireReply,
  AcquireRequest,
  EgressReport,
  LeaseGrant,
  ReportReply,
  RobotsAdvice,
  RobotsNews,
  SessionNews,
} from '../wire/egress.ts';
import type { Way } from './lease.ts';
import type { Denial, Permit, PermitRequest } from './permit.ts';

export interface EgressPort {
  /** Undefined: nobody has answered. */
  acquire(request: AcquireRequest): Promise<AcquireReply | undefined>;
  report(report: EgressReport): Promise<ReportReply | undefined>;
  /** What the manager tells all workers; returns the undo. */
  onNews(listener: (news: ReportReply) => void): () => void;
}

export interface LeasePoolParts {
  readonly worker: string;
  readonly machine: string;
  readonly port: EgressPort;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly readWay: (grant: LeaseGrant) => Way;
  /** The version of a host's robots rules that are known here. */
  readonly robotsVersion: (host: string) => number | undefined;
  readonly onRobots: (host: string, advice: RobotsAdvice) => void;
}

export interface LeasePool {
  /** A permit that is in hand; for a request that is not `fresh`. */
  take(request: PermitRequest): Permit | undefined;
  acquire(request: PermitRequest, signal: AbortSignal): Promise<Permit | Denial>;
  /** What this one held alone is free for others. */
  letGo(owner: object): void;
  tellSession(news: SessionNews): void;
  /** Resolves when the manager knows. */
  tellRobots(news: RobotsNews): Promise<void>;
  /** For how long the host is closed, after all that was said about it has been answered; 0: it is open. */
  closedFor(host: string): Promise<number | undefined>;
  /** `starved`: attempts of which a request has waited for more than a moment. */
  stats(): { readonly waiting: number; readonly starved: number; readonly leases: number };
  /** Gives everything back. */
  close(): Promise<void>;
}
