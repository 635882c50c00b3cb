/** What the history tells of the attempts of each task. */
import type { ChaosEvent } from './history.ts';

export interface Attempts {
  begun: number;
  failed: number;
  deferred: number;
  /** Attempts in whose process something was done to it before they ended, or that it died with before it began another. */
  hits: number;
  /** From its first submission to the start of its last attempt (epoch ms). */
  since: number;
  until: number;
}

export interface Period {
  readonly since: number; // epoch ms
  readonly until: number;
}

type Begin = Extract<ChaosEvent, { type: 'begin' }>;

type Fault = Extract<ChaosEvent, { type: 'fault' }>;

export function tellAttempts(events: readonly ChaosEvent[]): Map<string, Attempts> {
  const told = new Map<string, Attempts>();
  const submitted = new Map<string, number>();
  const running = new Map<string, Begin>();
  /** The last that each process began, by pid: once it has ended it may still not be settled. */
  const latest = new Map<number, Begin>();
  const faults = events.filter((event) => event.type === 'fault');
  for (const event of events) {
    if (event.type === 'submit')
      for (const task of event.tasks)
        submitted.set(task, Math.min(event.at, submitted.get(task) ?? Infinity));
    if (event.type === 'begin') {
      const since = event.at;
      const about = told.get(event.task) ?? {
        begun: 0,
        failed: 0,
        deferred: 0,
        hits: 0,
        since,
        until: since,
      };
      told.set(event.task, { ...about, begun: about.begun + 1, until: event.at });
      running.set(`${event.pid} ${event.task}`, event);
      latest.set(event.pid, event);
    }
    if (event.type === 'end') {
      const about = told.get(event.task);
      if (about && event.outcome !== 'done') about[event.outcome] += 1;
      note(event, running.get(`${event.pid} ${event.task}`));
      running.delete(`${event.pid} ${event.task}`);
    }
    if (event.type === 'died') {
      const last = latest.get(event.pid);
      const about = last && told.get(last.task);
      if (about && !running.has(`${last.pid} ${last.task}`)) about.hits += 1;
    }
  }
  for (const begin of running.values()) note({ at: Infinity }, begin);
  for (const [task, about] of told) about.since = Math.min(about.since, submitted.get(task) ?? Infinity);
  return told;

  function note({ at }: { readonly at: number }, begin: Begin | undefined): void {
    const about = begin && told.get(begin.task);
    if (about && isHit(faults, begin, at)) about.hits += 1;
  }
}

function isHit(faults: readonly Fault[], { pid, at }: Begin, until: number): boolean {
  return faults.some((fault) => fault.pid === pid && fault.until >= at && fault.at <= until);
}

/** Whatever may have brought about another attempt: faults, and processes that ended by themselves. */
export function listDisturbances(events: readonly ChaosEvent[]): Period[] {
  const faults = events.filter((event) => event.type === 'fault');
  const hit = new Set(faults.map(({ pid }) => pid));
  const deaths = events.filter((event) => event.type === 'died').filter(({ pid }) => !hit.has(pid));
  return [
    ...faults.map(({ at, until }) => ({ since: at, until })),
    ...deaths.map(({ at }) => ({ since: at, until: at })),
  ];
}

export function countWithin(periods: readonly Period[], { since, until }: Period): number {
  return periods.filter((period) => period.since <= until && period.until >= since).length;
}
