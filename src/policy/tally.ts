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
  return sumTallies([a, b], hostsMax);
}

/** All of them in one go: there may be hundreds, with a hundred hosts each. */
export function sumTallies(tallies: readonly TallySums[], hostsMax: number): TallySums {
  const named = (key: 'starts' | 'retried' | 'deferred' | 'pages'): Named =>
    tallies.reduce<Record<string, number>>((sum, tally) => addInto(sum, tally[key]), {});
  const total = (key: 'refused' | 'bytes'): number => tallies.reduce((sum, tally) => sum + tally[key], 0);
  const durations = (key: 'task' | 'wait' | 'page'): DurationSums =>
    sumDurations(tallies.map((tally) => tally[key]));
  return {
    starts: named('starts'),
    refused: total('refused'),
    retried: named('retried'),
    deferred: named('deferred'),
    pages: named('pages'),
    bytes: total('bytes'),
    task: durations('task'),
    wait: durations('wait'),
    page: durations('page'),
    ...sumHosts(tallies, hostsMax),
  };
}

/** The sum as the next record of a life has it: what is older counts for less when the busiest hosts are chosen. */
export function nextTally(stored: TallySums, fresh: TallySums): TallySums {
  const hosts = new Map<string, HostSums>();
  for (const [name, host] of stored.hosts) hosts.set(name, { ...host, score: host.score * SCORE_KEPT });
  return addTallies({ ...stored, hosts }, fresh);
}

export function addHost(a: HostSums, b: HostSums): HostSums {
  const sum = copyHost(a);
  pour(b, sum);
  return sum;
}

export function sumNamed(counts: Named): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

export function countDurations({ counts }: DurationSums): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function addInto(sum: Record<string, number>, counts: Named): Record<string, number> {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

function sumDurations(all: readonly DurationSums[]): DurationSums {
  const counts = [...NO_DURATIONS.counts];
  for (const each of all)
    for (let bucket = 0; bucket < counts.length; bucket += 1)
      counts[bucket] = (counts[bucket] ?? 0) + (each.counts[bucket] ?? 0);
  return { counts, seconds: all.reduce((sum, { seconds }) => sum + seconds, 0) };
}

function sumHosts(tallies: readonly TallySums[], max: number): Pick<TallySums, 'hosts' | 'otherHosts'> {
  const sums = new Map<string, HostSum>();
  const otherHosts = copyHost(NO_HOST);
  for (const tally of tallies) {
    pour(tally.otherHosts, otherHosts);
    for (const [name, host] of tally.hosts) {
      const known = sums.get(name);
      if (known) pour(host, known);
      else sums.set(name, copyHost(host));
    }
  }
  if (sums.size <= max) return { hosts: sums, otherHosts };
  const byScore = [...sums].sort(([one, { score: low }], [two, { score: high }]) =>
    high === low ? (one < two ? -1 : 1) : high - low,
  );
  for (const [, host] of byScore.slice(max)) pour(host, otherHosts);
  return { hosts: new Map(byScore.slice(0, max)), otherHosts };
}

/** One that is still being added to. */
interface HostSum {
  readonly requests: number[];
  blocks: number;
  seconds: number;
  score: number;
}

function copyHost(host: HostSums): HostSum {
  return { ...host, requests: [...host.requests] };
}

function pour(host: HostSums, into: HostSum): void {
  for (let place = 0; place < into.requests.length; place += 1)
    into.requests[place] = (into.requests[place] ?? 0) + (host.requests[place] ?? 0);
  into.blocks += host.blocks;
  into.seconds += host.seconds;
  into.score += host.score;
}
