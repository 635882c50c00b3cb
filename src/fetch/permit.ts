/** What a request needs before it may be sent, and what it says when it is over. */
import type { NoEgressReason, ProxyAddress, UseOutcome } from '../domain/egress.ts';
import type { TorControl } from '../http/tor-control.ts';
import type { RobotsAdvice } from '../wire/egress.ts';
import type { EgressPolicy } from './egress-policy.ts';
import type { LiveSession } from './live-session.ts';

export interface PermitRequest {
  readonly host: string; // as `hostKey` spells it
  readonly scraper: string;
  readonly policy: EgressPolicy;
  readonly tried: readonly string[];
  readonly only?: string | undefined;
  readonly stickTo?: string | undefined;
  readonly session?: string | undefined;
  /** Who asks: a lease that belongs to one at a time is this one's until it lets go. */
  readonly owner: object;
  /** Its attempt has had a permit before, and lost what it has done if it began anew. */
  readonly begun: boolean;
  /** Asks the manager even if there are leases in hand: its answer brings what it knows about robots.txt. */
  readonly fresh?: boolean | undefined;
}

export interface Permit {
  readonly kind: 'permit';
  readonly egress: string;
  readonly address: ProxyAddress | undefined;
  /** Where Tor takes its commands, if the egress is one. */
  readonly control: TorControl | undefined;
  readonly session: LiveSession | undefined;
  /** To a fresh request. */
  readonly robots: RobotsAdvice | undefined;
  /** It will take a while until it is sent; whoever keeps a distance to it waits for that. */
  readonly prepare: () => void;
  /** The request is on its way to the site. */
  readonly sent: () => void;
  /** Once; later calls change nothing. */
  release(used: Used): void;
  /** Nothing more starts under its lease, which is given back. */
  discard(): void;
}

export interface Used {
  readonly outcome: UseOutcome;
  readonly ms?: number | undefined;
  /** How long it took until there was a connection: so much later did the site see the request. */
  readonly connectMs?: number | undefined;
  /** When its answer began. */
  readonly firstByteMs?: number | undefined;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface Denial {
  readonly kind: 'denied';
  readonly reason: NoEgressReason | 'manager_away';
  readonly retryInMs: number;
}

export function wantKeyOf({ tried, only, stickTo, session, fresh }: PermitRequest): string {
  if (tried.length === 0 && only === undefined && stickTo === undefined && session === undefined && !fresh)
    return '';
  return JSON.stringify([[...tried].sort(), only, stickTo, session, fresh === true]);
}
