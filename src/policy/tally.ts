/** Adds what actors have counted, and keeps the hosts among it to the busiest. */
import {
  NO_DURATIONS,
  NO_HOST,
  type DurationSums,
  type HostSums,
  type Named,
  type TallySums,
} from '../domain/tally.ts';

/** Hosts that a record tells apart. */
export const HOSTS_KEPT = 100;
/** What a host's business is worth after one more record was written. */
const SCORE_KEPT = 0.9;

/** Nothing is lost: a host that has to go is counted among the others from then on. */
export function addTallies(a: TallySums, b: TallySums, hostsMax = HOSTS_KEPT): TallySums {
  return {
    starts: addNamed(a.starts, b.starts),
    refused: a.refused + b.refused,
    retried: addNamed(a.retried, b.retried),
    deferred: addNamed(a.deferred, b.deferred),
    pages: addNamed(a.pages, b.pages),
    bytes: a.bytes + b.bytes,
    task: addDurations(a.task, b.task),
    wait: addDurations(a.wait, b.wait),
    page: addDurations(a.page, b.page),
    ...addHosts(a, b, hostsMax),
  };
}

/** The sum as the next record of a life has it: what is older counts for less when the busiest hosts are chosen. */
export function nextTally(stored: TallySums, fresh: TallySums): TallySums {
  const hosts = new Map<string, HostSums>();
  for (const [name, host] of stored.hosts) hosts.set(name, { ...host, score: host.score * SCORE_KEPT });
  return addTallies({ ...stored, hosts }, fresh);
}

export function addNamed(a: Named, b: Named): Named {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

export function addHost(a: HostSums, b: HostSums): HostSums {
  return {
    requests: NO_HOST.requests.map((_, place) => (a.requests[place] ?? 0) + (b.requests[place] ?? 0)),
    blocks: a.blocks + b.blocks,
    seconds: a.seconds + b.seconds,
    score: a.score + b.score,
  };
}

export function sumNamed(counts: Named): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

export function countDurations({ counts }: DurationSums): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function addDurations(a: DurationSums, b: DurationSums): DurationSums {
  return {
    counts: NO_DURATIONS.counts.map((_, bucket) => (a.counts[bucket] ?? 0) + (b.counts[bucket] ?? 0)),
    seconds: a.seconds + b.seconds,
  };
}

function addHosts(a: TallySums, b: TallySums, max: number): Pick<TallySums, 'hosts' | 'otherHosts'> {
  const sums = new Map(a.hosts);
  for (const [name, host] of b.hosts) {
    const known = sums.get(name);
    sums.set(name, known ? addHost(known, host) : host);
  }
  const otherHosts = addHost(a.otherHosts, b.otherHosts);
  if (sums.size <= max) return { hosts: sums, otherHosts };
  const byScore = [...sums].sort(([one, { score: low }], [two, { score: high }]) =>
    high === low ? (one < two ? -1 : 1) : high - low,
  );
  return {
    hosts: new Map(byScore.slice(0, max)),
    otherHosts: byScore.slice(max).reduce((sum, [, host]) => addHost(sum, host), otherHosts),
  };
}
