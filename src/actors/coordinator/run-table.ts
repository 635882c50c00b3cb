/** What this coordinator knows of all runs: kept current by a watch, and ahead of it by what it writes itself. */
import { untilAborted } from '../../runtime/actor.ts';
import type { RunRecord } from '../../wire/run-record.ts';
import type { RunDraft, RunNews, Runs, VersionedRun } from './ports.ts';

export interface RunTable {
  all(): RunRecord[];
  get(id: string): RunRecord | undefined;
  /** The run, made if nobody knows it. */
  ensure(draft: RunDraft): Promise<RunRecord>;
  put(found: VersionedRun): void;
  /** Reads everything anew: what the watch has not told yet, too. */
  refresh(): Promise<void>;
  onChange(listener: () => void): () => void;
  follow(signal: AbortSignal): Promise<void>;
}

export function createRunTable(
  runs: Pick<Runs, 'ensure' | 'list' | 'watch'>,
  announce: (news: RunNews) => void,
): RunTable {
  const known = new Map<string, VersionedRun>();
  const making = new Map<string, Promise<RunRecord>>();
  const listeners = new Set<() => void>();

  return {
    all: () => [...known.values()].map(({ run }) => run),
    get: (id) => known.get(id)?.run,
    ensure(draft) {
      const found = known.get(draft.id);
      if (found) return Promise.resolve(found.run);
      let made = making.get(draft.id);
      if (!made) {
        made = make(draft).finally(() => making.delete(draft.id));
        making.set(draft.id, made);
      }
      return made;
    },
    put,
    async refresh() {
      for (const found of await runs.list()) put(found);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async follow(signal) {
      await runs.watch((id, found) => {
        if (found) put(found);
        else if (known.delete(id)) tell();
      }, signal);
      await untilAborted(signal);
    },
  };

  function put(found: VersionedRun): void {
    const { id } = found.run;
    if ((known.get(id)?.revision ?? 0) >= found.revision) return;
    known.set(id, found);
    tell();
  }

  async function make(draft: RunDraft): Promise<RunRecord> {
    const { created, ...found } = await runs.ensure(draft);
    put(found);
    if (created) announce({ kind: 'created', run: found.run });
    return found.run;
  }

  function tell(): void {
    for (const listener of listeners) listener();
  }
}
