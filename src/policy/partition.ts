/**
 * Which shard has which host. A host is never split: its pace, its robots.txt and its connections belong together.
 *
 *   rendezvous  each host goes where its hash with the shard is highest: one more shard takes its part of the hosts
 *               and moves nothing else
 *   round_robin in the order of their names, one after the other
 *   domain      as rendezvous, but all hosts of one site go together
 *   balanced    the heaviest first, each to the shard that has least
 */
import { createHash } from 'node:crypto';
import { registrableDomain } from './follow-links.ts';

export const PARTITIONINGS = ['rendezvous', 'round_robin', 'domain', 'balanced'] as const;
export type Partitioning = (typeof PARTITIONINGS)[number];

export interface HostWeight {
  readonly host: string;
  /** How much work it has, in whatever unit; 1 if nobody knows. */
  readonly weight?: number | undefined;
}

/** The shard of each host, from 0. */
export type Assignment = ReadonlyMap<string, number>;

export function partitionHosts(
  hosts: readonly HostWeight[],
  shards: number,
  by: Partitioning = 'rendezvous',
): Assignment {
  if (!Number.isSafeInteger(shards) || shards < 1) throw new RangeError(`${shards} shards`);
  const names = [...new Set(hosts.map(({ host }) => host))];
  switch (by) {
    case 'rendezvous':
      return new Map(names.map((host) => [host, pickShard(host, shards)]));
    case 'domain':
      return new Map(names.map((host) => [host, pickShard(registrableDomain(host), shards)]));
    case 'round_robin':
      return new Map(names.sort().map((host, place) => [host, place % shards]));
    case 'balanced':
      return balance(hosts, shards);
  }
}

/** Needs no list: everybody who knows the host and the number of shards comes to the same answer. */
export function pickShard(key: string, shards: number): number {
  let best = 0;
  let highest = -1;
  for (let shard = 0; shard < shards; shard += 1) {
    const score = createHash('sha256').update(`${shard}\0${key}`).digest().readUIntBE(0, 6);
    if (score > highest) {
      highest = score;
      best = shard;
    }
  }
  return best;
}

function balance(hosts: readonly HostWeight[], shards: number): Assignment {
  const weights = new Map<string, number>();
  for (const { host, weight = 1 } of hosts) weights.set(host, (weights.get(host) ?? 0) + Math.max(0, weight));
  const heaviestFirst = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const loads = new Array<number>(shards).fill(0);
  const assignment = new Map<string, number>();
  for (const [host, weight] of heaviestFirst) {
    const least = loads.indexOf(Math.min(...loads));
    loads[least] = (loads[least] ?? 0) + weight;
    assignment.set(host, least);
  }
  return assignment;
}
