/** All that the book has in memory. */
import type { ProxyState } from '../../domain/egress.ts';
import { createDueHeap, type DueHeap } from './due-heap.ts';
import { compareUse, type Egress, type Host, type Identity, type Lease, type Robots } from './entities.ts';
import { createJournal, type Journal } from './journal.ts';
import type { BookLimits } from './limits.ts';
import { createSortedList, type SortedList } from './sorted-list.ts';

export interface State {
  readonly limits: BookLimits;
  /** Part of every id, so that two leaders never give the same. */
  readonly term: string;
  lastId: number;
  readonly direct: Egress;
  readonly egresses: Map<string, Egress>;
  readonly byState: Record<ProxyState, number>;
  registered: number;
  readonly ready: SortedList<Egress>;
  readonly waiting: DueHeap<Egress>;
  readonly probes: DueHeap<Egress['probe']>;
  /** Rises when a proxy becomes ready. */
  poolVersion: number;
  /** Proxies that wait for what somebody holds, not for a time. */
  heldBack: Set<Egress>;
  ratePerMs: number;
  readonly hosts: Map<string, Host>;
  readonly hostsDue: DueHeap<Host>;
  readonly leases: Map<string, Lease>;
  readonly leasesDue: DueHeap<Lease>;
  readonly past: Map<string, Lease>;
  readonly pastIds: { readonly ring: string[]; next: number };
  /** Worker → egress → leases. */
  readonly holdings: Map<string, Map<string, number>>;
  readonly sessions: Map<string, Identity>;
  readonly sessionsAt: Map<string, Set<Identity>>;
  readonly sessionsDue: DueHeap<Identity>;
  readonly robots: Map<string, Robots>;
  robotsBytes: number;
  /** Leases of the leader before us that are not on record may be used until then. */
  unsureUntil: number;
  readonly journal: Journal;
}

export function createState(limits: BookLimits, term: string, direct: Egress): State {
  return {
    limits,
    term,
    lastId: 0,
    direct,
    egresses: new Map(),
    byState: { available: 0, leased: 0, rate_limited: 0, cooling: 0, disabled: 0, frozen: 0 },
    registered: 0,
    ready: createSortedList(compareUse),
    waiting: createDueHeap(),
    probes: createDueHeap(),
    poolVersion: 0,
    heldBack: new Set(),
    ratePerMs: 0,
    hosts: new Map(),
    hostsDue: createDueHeap(),
    leases: new Map(),
    leasesDue: createDueHeap(),
    past: new Map(),
    pastIds: { ring: [], next: 0 },
    holdings: new Map(),
    sessions: new Map(),
    sessionsAt: new Map(),
    sessionsDue: createDueHeap(),
    robots: new Map(),
    robotsBytes: 0,
    unsureUntil: 0,
    journal: createJournal(),
  };
}

export function nextId(state: State): string {
  state.lastId += 1;
  return `${state.term}-${state.lastId.toString(36)}`;
}
