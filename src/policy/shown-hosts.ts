/**
 * Which hosts have a line of their own on the page of the cluster: the busiest few, and `other` for all that is left.
 * A line only grows while it is there: what a host had before it was shown stays in `other`, and one that gets too
 * quiet to be shown takes along what it had. So rates are right for each line, and for all of them together.
 */
import { NO_HOST, type HostSums, type TallySums } from '../domain/tally.ts';
import { addHost } from './tally.ts';

export const OTHER_HOSTS = 'other';

export interface ShownHosts {
  /** The lines as they are now. */
  update(sums: Pick<TallySums, 'hosts' | 'otherHosts'>, now: number): ReadonlyMap<string, HostSums>;
}

interface Line {
  readonly sums: HostSums;
  /** When it last grew (monotonic ms). */
  readonly grewAt: number;
}

/** Who was silent for so long makes room for somebody who is not. */
const QUIET_MS = 600_000;

export function createShownHosts(max: number): ShownHosts {
  const lines = new Map<string, Line>();
  let before: Pick<TallySums, 'hosts' | 'otherHosts'> | undefined;
  let other = NO_HOST;

  return {
    update(sums, now) {
      const grown = new Map<string, HostSums>();
      for (const [name, host] of sums.hosts) grown.set(name, growth(before?.hosts.get(name), host));
      makeRoom(grown, now);
      for (const name of pick(sums.hosts, grown)) lines.set(name, { sums: NO_HOST, grewAt: now });

      let left = growth(before && totalOf(before), totalOf(sums));
      for (const [name, line] of lines) {
        const more = grown.get(name);
        if (!more || requestsOf(more) + more.blocks + more.seconds === 0) continue;
        lines.set(name, { sums: addHost(line.sums, more), grewAt: now });
        left = growth(more, left);
      }
      other = addHost(other, left);
      before = { hosts: new Map(sums.hosts), otherHosts: sums.otherHosts };
      return new Map([...[...lines].map(([name, line]) => [name, line.sums] as const), [OTHER_HOSTS, other]]);
    },
  };

  function makeRoom(grown: ReadonlyMap<string, HostSums>, now: number): void {
    const busy = [...grown].filter(([name, more]) => !lines.has(name) && requestsOf(more) > 0).length;
    const quiet = [...lines].filter(([name, { grewAt }]) => {
      return now - grewAt >= QUIET_MS && requestsOf(grown.get(name) ?? NO_HOST) === 0;
    });
    const wanted = Math.min(busy, Math.max(0, lines.size + busy - max));
    for (const [name] of quiet.slice(0, wanted)) lines.delete(name);
  }

  /** The busiest of those that have no line yet and did something just now. */
  function pick(hosts: ReadonlyMap<string, HostSums>, grown: ReadonlyMap<string, HostSums>): string[] {
    return [...hosts]
      .filter(([name]) => name !== OTHER_HOSTS && !lines.has(name))
      .filter(([name]) => requestsOf(grown.get(name) ?? NO_HOST) > 0)
      .sort(([one, { score: low }], [two, { score: high }]) => high - low || (one < two ? -1 : 1))
      .slice(0, Math.max(0, max - lines.size))
      .map(([name]) => name);
  }
}

/** Never less than nothing: a host may have become one of the others in between. */
function growth(before: HostSums = NO_HOST, now: HostSums): HostSums {
  return {
    requests: now.requests.map((count, place) => Math.max(0, count - (before.requests[place] ?? 0))),
    blocks: Math.max(0, now.blocks - before.blocks),
    seconds: Math.max(0, now.seconds - before.seconds),
    score: now.score,
  };
}

function totalOf({ hosts, otherHosts }: Pick<TallySums, 'hosts' | 'otherHosts'>): HostSums {
  let sum = otherHosts;
  for (const host of hosts.values()) sum = addHost(sum, host);
  return sum;
}

function requestsOf({ requests }: HostSums): number {
  return requests.reduce((sum, count) => sum + count, 0);
}
