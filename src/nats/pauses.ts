/** Flags that hold work back. They live in the `cluster` bucket, so they survive restarts of everything. */
import type { TaskSpec } from '../domain/task.ts';
import { hostOf } from '../domain/url.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import { keys } from '../wire/names.ts';
import { isConflict, type Bucket } from './bucket.ts';

export type PauseKind = 'cluster' | 'scraper' | 'host' | 'run';

export interface Pause {
  readonly kind: PauseKind;
  readonly name: string;
  readonly since: number; // epoch ms
}

export interface Pauses {
  pause(kind: PauseKind, name: string): Promise<void>;
  resume(kind: PauseKind, name: string): Promise<void>;
  list(): Promise<Pause[]>;
}

export function createPauses(bucket: Bucket, now: () => number = Date.now): Pauses {
  return {
    async pause(kind, name) {
      const value = encodeJson({ kind, name, since: now() } satisfies Pause);
      await bucket.create(keyOf(kind, name), value).catch((error: unknown) => {
        if (!isConflict(error)) throw error; // it is paused already
      });
    },
    async resume(kind, name) {
      const entry = await bucket.get(keyOf(kind, name));
      if (entry) await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: 60_000 });
    },
    async list() {
      return (await bucket.list(keys.allPauses)).map(({ value }) => decode(value) as Pause);
    },
  };
}

export interface PauseWatch {
  /** Why nothing at all may be started, if so. */
  all(): string | undefined;
  /** Why this task must wait, if it must. */
  of(spec: TaskSpec): string | undefined;
  /** How many flags were taken away so far: something may go on when it grows. */
  lifted(): number;
  /** Calls when one is taken away; returns the undo. */
  onLifted(listener: () => void): () => void;
}

/** Follows the flags; resolves when those that are set have been heard. */
export async function watchPauses(bucket: Bucket, signal: AbortSignal): Promise<PauseWatch> {
  const set = new Set<string>();
  const listeners = new Set<() => void>();
  let lifted = 0;
  await bucket.watch(
    keys.allPauses,
    ({ key, entry }) => {
      if (entry) set.add(key);
      else if (set.delete(key)) {
        lifted += 1;
        for (const listener of [...listeners]) listener();
      }
    },
    signal,
  );
  return {
    lifted: () => lifted,
    onLifted(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    all: () => (set.has(keyOf('cluster', 'all')) ? 'the cluster is paused' : undefined),
    of({ scraper, run, url }) {
      if (set.size === 0) return undefined;
      if (set.has(keyOf('run', run))) return `the run ${run} is paused`;
      if (set.has(keyOf('scraper', scraper))) return `the scraper ${scraper} is paused`;
      const host = url === undefined ? undefined : hostOf(url);
      return host !== undefined && set.has(keyOf('host', host)) ? `the host ${host} is paused` : undefined;
    },
  };
}

/** A host may have a port, and a key no colon. */
function keyOf(kind: PauseKind, name: string): string {
  return keys.pause(kind, name.replaceAll(':', '='));
}
