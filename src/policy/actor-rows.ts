/** What `trawl status` shows: the processes that run here, joined with the heartbeats of the whole cluster. */
import type { Beat } from '../domain/beat.ts';
import { judgeLiveness, type LivenessLimits } from './liveness.ts';

export interface LocalProcess {
  readonly name: string;
  readonly role: string;
  readonly pid: number | undefined;
  readonly state: string;
  readonly restarts: number;
  readonly startedAt: number | undefined;
}

export interface ActorRow {
  readonly id: string;
  readonly role: string;
  readonly host: string;
  readonly state: string;
  readonly pid: number | undefined;
  readonly startedAt: number | undefined;
  readonly inFlight: number | undefined;
  /** Tasks at once, by its settings and as it lets itself at the moment. */
  readonly slots: number | undefined;
  readonly slotsNow: number | undefined;
  readonly starved: number | undefined;
  readonly limitedBy: readonly string[] | undefined;
  readonly memoryBytes: number | undefined;
  readonly cpuPercent: number | undefined;
  readonly beatAt: number | undefined;
  readonly restarts: number | undefined;
  readonly page: string | undefined;
}

export interface RowFacts {
  readonly processes: readonly LocalProcess[];
  readonly beats: readonly Beat[];
  readonly now: number;
  readonly limits: LivenessLimits;
}

/** A process that the supervisor knows to be down is not `running`, whatever its last heartbeat said. */
export function planActorRows({ processes, beats, now, limits }: RowFacts): ActorRow[] {
  const local = new Map(processes.map((process) => [process.name, process]));
  const seen = new Set<string>();
  const rows = judgeLiveness(beats, now, limits).map(({ beat, liveness }): ActorRow => {
    const process = local.get(beat.id);
    const own = process && process.role === beat.role ? process : undefined;
    if (own) seen.add(own.name);
    const told = liveness === 'late' || liveness === 'dead' ? liveness : beat.paused ? 'paused' : beat.status;
    return {
      id: beat.id,
      role: beat.role,
      host: beat.host,
      state: own && own.state !== 'up' ? own.state : told,
      pid: own ? own.pid : beat.pid,
      startedAt: beat.startedAt,
      inFlight: beat.inFlight,
      slots: beat.limits['concurrency'],
      slotsNow: beat.slotsNow,
      starved: beat.starved,
      limitedBy: beat.limitedBy,
      memoryBytes: beat.memoryBytes,
      cpuPercent: beat.cpuPercent,
      beatAt: beat.beatAt,
      restarts: own?.restarts,
      page: beat.http,
    };
  });
  const silent = processes.filter(({ name }) => !seen.has(name)).map(rowOfProcess);
  return [...silent.filter(isServer), ...rows.sort(byRoleAndId), ...silent.filter((row) => !isServer(row))];
}

function rowOfProcess({ name, role, pid, state, restarts, startedAt }: LocalProcess): ActorRow {
  return {
    id: name,
    role,
    host: 'this one',
    state,
    pid,
    startedAt,
    inFlight: undefined,
    slots: undefined,
    slotsNow: undefined,
    starved: undefined,
    limitedBy: undefined,
    memoryBytes: undefined,
    cpuPercent: undefined,
    beatAt: undefined,
    restarts,
    page: undefined,
  };
}

function isServer(row: ActorRow): boolean {
  return row.role === 'nats';
}

function byRoleAndId(a: ActorRow, b: ActorRow): number {
  return a.role === b.role ? a.id.localeCompare(b.id, 'en', { numeric: true }) : a.role < b.role ? -1 : 1;
}
