/** Everything that the page of the cluster is made of, as of one moment. */
import type { Status } from './beat.ts';
import type { Role } from './role.ts';
import type { Snapshot } from './snapshot.ts';
import type { HostSums, Named, TallySums } from './tally.ts';

export interface StreamFacts {
  readonly stream: string;
  readonly bytes: number;
  readonly messages: number;
  /** Absent: it has none. */
  readonly limitBytes?: number | undefined;
}

export interface ClusterFacts {
  readonly snapshot: Snapshot;
  readonly tally: TallySums;
  /** The busiest ones, and all others as one. */
  readonly hosts: ReadonlyMap<string, HostSums>;
  readonly actors: readonly { readonly role: Role; readonly status: Status; readonly count: number }[];
  readonly streams: readonly StreamFacts[];
  readonly leaders: readonly { readonly lead: string; readonly actor: string }[];
  /** False: no proxy-manager leads, so nobody knows. */
  readonly egressKnown: boolean;
  /** Of the autoscaler, by what it did; absent where none has decided. */
  readonly decisions?: Named | undefined;
  /** How long it took to find all of this out. */
  readonly ms: number;
}
