/**
 * The egress, in one hand: proxies, hosts, leases, sessions and budgets. It knows no clock and no store: the time comes
 * with each call, and what must outlive the process is taken by `takeWrites`.
 *
 * The promise: whoever gets an answer only after the writes before it are stored, sees no cap, distance, exclusive
 * lease or session broken, also when another one goes on from the stored records at any moment.
 */
import { DIRECT } from '../../domain/egress.ts';
import type { AcquireReply, AcquireRequest, EgressReport, ReportReply } from '../../wire/egress.ts';
import { acquire } from './acquire.ts';
import { close, openByPerson, welcomePair } from './closures.ts';
import { noteProbe, takeProbes } from './health.ts';
import { hostOf, setOwnLimits } from './hosts.ts';
import { takeEvents, takeWrites } from './journal.ts';
import type { BookLimits } from './limits.ts';
import { nextDue, passTime } from './pass-time.ts';
import { createEgress } from './pool.ts';
import { dropProxy, enterProxy, freezeProxy, resetProxy } from './proxies.ts';
import type {
  EgressEvent,
  EgressRecords,
  EgressWrite,
  HostRecord,
  ProbeResult,
  ProxyRecord,
  SessionRecord,
} from './records.ts';
import { report } from './report.ts';
import { restore } from './restore.ts';
import { changeState, isUsable, replaceSession, retireSessionsOf } from './sessions.ts';
import { showGauges, showHost, showLease, showProxy, showSession } from './show.ts';
import type { Egress } from './entities.ts';
import { createState } from './state.ts';
import type { Gauges, HostView, LeaseView, ProxyView, SessionView } from './views.ts';

export interface EgressBook {
  /** All that is stored, once, before anything else. */
  load(records: EgressRecords, now: number): void;

  putProxy(proxy: ProxyRecord, now: number): void;
  /** False: there is no such proxy; so with all of these. Its leases end at their next renewal. */
  removeProxy(id: string, now: number): boolean;
  freeze(id: string, reason: string, now: number): boolean;
  /** Whatever it was, it is as new: free, its count at zero, welcome everywhere. */
  reset(id: string, now: number): boolean;
  putHost(host: HostRecord, now: number): void;
  /** Without `untilMs` (epoch) until a person opens it. */
  closeHost(
    host: string,
    closing: { readonly untilMs?: number | undefined; readonly reason: string },
    now: number,
  ): void;
  /** Also for every egress, and at full speed. */
  openHost(host: string, now: number): void;
  retireSession(id: string, now: number): boolean;
  /** One that a person brought along; it replaces a session of the same id. */
  putSession(session: SessionRecord, now: number): void;

  /** Grants carry no urls: the caller adds them, from `address`. */
  acquire(request: AcquireRequest, now: number, random: () => number): AcquireReply;
  report(report: EgressReport, now: number): ReportReply;

  /** Proxies to be probed now; each is named once until `probed`, or until its probe must have failed. */
  duesForProbe(now: number): string[];
  probed(id: string, health: ProbeResult, now: number): void;

  /** Time passes: leases expire, what was closed opens. Returns when it wants to be called next. */
  tick(now: number): number | undefined;
  /** What must be stored, in this order, before any answer given since the last call may leave. */
  takeWrites(now: number): EgressWrite[];
  takeEvents(): EgressEvent[];

  /** Where a lease's requests go: what is on record for the proxy; undefined for the direct egress. */
  proxyRecord(id: string): ProxyRecord | undefined;
  /** What people have set for a host; undefined where they have not. */
  hostRecord(host: string): HostRecord | undefined;
  proxies(now: number): ProxyView[];
  proxy(id: string, now: number): ProxyView | undefined;
  hosts(now: number): HostView[];
  host(host: string, now: number): HostView | undefined;
  sessions(): SessionView[];
  session(id: string): SessionView | undefined;
  leases(): LeaseView[];
  gauges(now: number): Gauges;
}

/** `term` is part of every id that it gives: no two leaders may have the same. */
export function createBook(limits: BookLimits, term: string): EgressBook {
  const state = createState(limits, term, createEgress(DIRECT));

  return {
    load(records, now) {
      restore(state, records, now);
      passTime(state, now);
    },
    putProxy: (proxy, now) => enterProxy(state, proxy, now),
    removeProxy: (id, now) =>
      withProxy(id, (egress) => {
        dropProxy(state, egress, now);
        retireSessionsOf(state, id, now);
      }),
    freeze: (id, reason, now) => withProxy(id, (egress) => freezeProxy(state, egress, reason, now)),
    reset: (id, now) =>
      withProxy(id, (egress) => {
        resetProxy(state, egress, now);
        for (const host of state.hosts.values()) {
          const pair = host.pairs.get(id);
          if (pair) welcomePair(state, pair, now);
        }
      }),
    putHost: (record, now) => setOwnLimits(state, hostOf(state, record.host, now), record, now),
    closeHost(name, { untilMs, reason }, now) {
      const closure = { reason, since: now, ...(untilMs !== undefined && { until: untilMs }) };
      close(state, hostOf(state, name, now), closure, now);
    },
    openHost: (name, now) => openByPerson(state, hostOf(state, name, now), now),
    retireSession(id, now) {
      const identity = state.sessions.get(id);
      if (!identity) return false;
      if (isUsable(identity)) changeState(state, identity, 'retired', 'retired by a person', now);
      return true;
    },
    putSession: (session, now) => replaceSession(state, session, now),

    acquire(request, now, random) {
      passTime(state, now);
      return acquire(state, request, now, random);
    },
    report(told, now) {
      passTime(state, now);
      return report(state, told, now);
    },
    duesForProbe: (now) => takeProbes(state, now),
    probed: (id, health, now) => void withProxy(id, (egress) => noteProbe(state, egress, health, now)),
    tick(now) {
      passTime(state, now);
      return nextDue(state);
    },
    takeWrites: (now) => takeWrites(state.journal, now),
    takeEvents: () => takeEvents(state.journal),

    proxyRecord: (id) => state.egresses.get(id)?.record,
    hostRecord(name) {
      const host = state.hosts.get(name);
      if (!host || (host.own === undefined && host.throttleScope === undefined)) return undefined;
      const { own, throttleScope } = host;
      return {
        type: 'host',
        host: name,
        ...(own && { limits: own }),
        ...(throttleScope && { throttleScope }),
      };
    },
    proxies: (now) => [...state.egresses.values()].flatMap((egress) => showProxy(egress, now) ?? []),
    proxy(id, now) {
      const egress = state.egresses.get(id);
      return egress && showProxy(egress, now);
    },
    hosts: (now) => [...state.hosts.values()].map((host) => showHost(state, host, now)),
    host(name, now) {
      const host = state.hosts.get(name);
      return host && showHost(state, host, now);
    },
    sessions: () => [...state.sessions.values()].map(showSession),
    session(id) {
      const identity = state.sessions.get(id);
      return identity && showSession(identity);
    },
    leases: () => [...state.leases.values()].map(showLease),
    gauges: (now) => showGauges(state, now),
  };

  function withProxy(id: string, change: (egress: Egress) => void): boolean {
    const egress = state.egresses.get(id);
    if (!egress?.record) return false;
    change(egress);
    return true;
  }
}
