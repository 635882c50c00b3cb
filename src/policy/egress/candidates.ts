/** Proxies for one want: those that may be taken now, or else why there are none and when there will be one. */
import type { AcquireRequest, Want } from '../../wire/egress.ts';
import { DIRECT } from '../../domain/egress.ts';
import { pairRoomAt, SOON_MS, type NoRoom } from './room.ts';
import { selectAmong, selectProxies, type Choice } from './select.ts';
import type { Egress, Host } from './entities.ts';
import type { State } from './state.ts';

export interface Seeking {
  readonly request: AcquireRequest;
  readonly want: Want;
  readonly host: Host;
  readonly now: number;
  readonly random: () => number;
}

/** Whether nobody else may have a part of it: the asker wants that, or the proxy is of that kind. */
export function isForOne(want: Pick<Want, 'exclusive'>, { record }: Pick<Egress, 'record'>): boolean {
  return record !== undefined && (want.exclusive || record.exclusive === true);
}

/** When nothing is in sight, somebody may add a proxy meanwhile. */
const NONE_MS = 60_000;
const HELD_LOOKS = 16;
const PREFER_MIN = 0.05;

export function seekProxies(state: State, seeking: Seeking, max: number): readonly Egress[] | NoRoom {
  const { want, host, now, random } = seeking;
  const cached = host.nonePool === state.poolVersion && now < host.noneUntil;
  if (cached && want.only === undefined) return { kind: 'none', reason: host.noneReason, at: host.noneUntil };
  const search = createSearch(state, seeking, max);
  const choice: Choice = {
    select: want.select,
    stickTo: want.stickTo ?? want.scraper,
    max,
    random,
    isFit: search.isFit,
    preferOf: (egress) => preferOf(host, egress),
  };
  const among = search.candidates();
  const picks = among ? selectAmong(among, choice) : selectProxies(state, choice);
  return picks.length > 0 ? picks : search.explain();
}

function preferOf(host: Host, egress: Egress): number {
  const score = host.pairs.get(egress.id)?.score ?? egress.score;
  return Math.min(1, Math.max(PREFER_MIN, (egress.record?.weight ?? 1) * score));
}

interface Search {
  readonly isFit: (egress: Egress) => boolean;
  /** These alone; undefined: all that are ready. */
  readonly candidates: () => readonly Egress[] | undefined;
  readonly explain: () => NoRoom;
}

function createSearch(state: State, { request, want, host, now }: Seeking, max: number): Search {
  const { worker, machine } = request;
  const held = state.holdings.get(worker);
  const perWorker = state.limits.proxiesPerWorkerMax;
  const holds = (held?.size ?? 0) - (held?.has(DIRECT) ? 1 : 0);
  let mayAdd = perWorker === 0 ? Infinity : perWorker - holds;
  let earliest = Infinity;
  let isLimited = false;
  let isCapReached = false;
  /** Something about the asker, not about the pool, stood in the way. */
  let isPersonal = want.only !== undefined;

  return {
    isFit(egress) {
      if (!suits(egress)) {
        isPersonal = true;
        return false;
      }
      const room = pairRoomAt(state, host, egress, now);
      if (room.fitAt > now) {
        earliest = Math.min(earliest, room.fitAt);
        isLimited ||= room.isLimited;
        return false;
      }
      if (isForOne(want, egress) && (egress.leases > 0 || egress.unsureUntil > now)) {
        isPersonal = true;
        earliest = Math.min(earliest, Math.max(now + SOON_MS, egress.unsureUntil));
        return false;
      }
      if (held?.has(egress.id)) return true;
      if (mayAdd < 1) {
        isPersonal = true;
        isCapReached = true;
        return false;
      }
      if (max > 1) mayAdd -= 1;
      return true;
    },
    candidates() {
      if (want.only !== undefined) return idsOf([want.only]);
      if (mayAdd >= 1) return undefined;
      isCapReached = true;
      isPersonal = true;
      return idsOf(held?.keys() ?? []);
    },
    explain() {
      const at = Math.min(earliest, waitingUntil());
      const reason = reasonOf();
      const known = at === Infinity ? now + NONE_MS : Math.max(at, now + 1);
      if (!isPersonal) {
        host.noneUntil = Math.min(known, now + NONE_MS);
        host.nonePool = state.poolVersion;
        host.noneReason = reason;
      }
      return { kind: 'none', reason, at: isCapReached ? Math.min(known, now + SOON_MS) : known };
    },
  };

  function idsOf(ids: Iterable<string>): Egress[] {
    return [...ids].map((id) => state.egresses.get(id)).filter((egress) => egress !== undefined);
  }

  function suits(egress: Egress): boolean {
    if (want.only !== undefined && egress.id !== want.only) return false;
    if (want.tried.length > 0 && want.tried.includes(egress.id)) return false;
    return egress.record?.machine === undefined || egress.record.machine === machine;
  }

  function waitingUntil(): number {
    const valueOf = (egress: Egress): number => {
      if (!egress.record || !suits(egress)) return Infinity;
      return Math.max(egress.dueAt, pairRoomAt(state, host, egress, now).fitAt);
    };
    let at = state.waiting.least(valueOf);
    let looks = HELD_LOOKS;
    for (const egress of state.heldBack) {
      if (suits(egress))
        at = Math.min(at, Math.max(now + SOON_MS, pairRoomAt(state, host, egress, now).fitAt));
      looks -= 1;
      if (at <= now + SOON_MS || looks === 0) break;
    }
    return at;
  }

  function reasonOf(): NoRoom['reason'] {
    if (isCapReached) return 'cap_reached';
    if (isLimited) return 'rate_limited';
    const limited = (id: string): boolean => state.egresses.get(id)?.state === 'rate_limited';
    if (want.only !== undefined) return limited(want.only) ? 'rate_limited' : 'no_proxy_available';
    const others = state.byState.rate_limited - want.tried.filter(limited).length;
    return others > 0 ? 'rate_limited' : 'no_proxy_available';
  }
}
