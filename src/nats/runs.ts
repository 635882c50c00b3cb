/** The runs of the cluster: one record each in the `cluster` bucket, changed only by compare-and-set. */
import { Failure, messageOf } from '../domain/failure.ts';
import { createRunId, isRunId, nextRunId } from '../domain/run-id.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import { decodeRun, encodeRun, type RunRecord } from '../wire/run-record.ts';
import { isConflict, type Bucket, type Entry } from './bucket.ts';

export interface RunDraft {
  /** None: one is made from the time. */
  readonly id?: string;
  readonly scraper: string;
  readonly priority?: number;
  readonly standing: boolean;
}

/** A run, and the revision of its record: of two views of a run the higher one is newer. */
export interface VersionedRun {
  readonly run: RunRecord;
  readonly revision: number;
}

/** Stores a record in place of the revision that was read, and returns its own; CONFLICT when that is no longer there. */
export type StoreRun = (run: RunRecord, expect: number) => Promise<number>;

export interface Runs {
  /** A new run; CONFLICT when a run of the given id exists. */
  create(draft: RunDraft): Promise<RunRecord>;
  /** The run of that id, made if there is none; an existing one stays as it is. */
  ensure(draft: RunDraft & { readonly id: string }): Promise<VersionedRun & { readonly created: boolean }>;
  get(id: string): Promise<RunRecord | undefined>;
  list(): Promise<VersionedRun[]>;
  /**
   * Changes what is stored, again when somebody was faster. `change` returns undefined to leave it as it is, and the
   * answer is then undefined too, as it is when there is no such run.
   */
  change(id: string, change: (run: RunRecord) => RunRecord | undefined): Promise<RunRecord | undefined>;
  /** The same, stored by somebody else's authority. */
  changeWith(
    store: StoreRun,
    id: string,
    change: (run: RunRecord) => RunRecord | undefined,
  ): Promise<VersionedRun | undefined>;
  /** Calls back with the runs that are there, then with each change; resolves when the former were told. */
  watch(listener: (id: string, found: VersionedRun | undefined) => void, signal: AbortSignal): Promise<void>;
}

const TRIES = 20;
const NAMES_MAX = 1_000;

export function createRuns(
  bucket: Bucket,
  { log, now = Date.now }: { readonly log: Log; readonly now?: () => number },
): Runs {
  const plainStore: StoreRun = (run, expect) => bucket.put(keys.run(run.id), encodeRun(run), { expect });

  return {
    async create(draft) {
      if (draft.id !== undefined) {
        if (!isRunId(draft.id)) throw badId(draft.id);
        return (await add(draft.id, draft)).run;
      }
      const id = createRunId(now());
      for (let n = 1; ; n += 1) {
        try {
          return (await add(n === 1 ? id : nextRunId(id, n), draft)).run;
        } catch (error) {
          if (!isConflict(error) || n === NAMES_MAX) throw error;
        }
      }
    },
    async ensure(draft) {
      const known = await find(draft.id);
      if (known) return { ...known, created: false };
      try {
        return { ...(await add(draft.id, draft)), created: true };
      } catch (error) {
        const other = isConflict(error) && (await find(draft.id));
        if (other) return { ...other, created: false };
        throw error;
      }
    },
    get: async (id) => (await find(id))?.run,
    async list() {
      return (await bucket.list(keys.allRuns)).flatMap((entry) => readable(entry) ?? []);
    },
    change: async (id, change) => (await changeWith(plainStore, id, change))?.run,
    changeWith,
    watch: (listener, signal) =>
      bucket.watch(
        keys.allRuns,
        ({ key, entry }) => {
          const found = entry && readable(entry);
          if (found || !entry) listener(idOf(key), found);
        },
        signal,
      ),
  };

  async function changeWith(
    ...[store, id, change]: Parameters<Runs['changeWith']>
  ): Promise<VersionedRun | undefined> {
    for (let left = TRIES; ; left -= 1) {
      const entry = await bucket.get(keys.run(id));
      const changed = entry && change(decodeRun(entry.value));
      if (!changed) return undefined;
      try {
        return { run: changed, revision: await store(changed, entry.revision) };
      } catch (error) {
        if (!isConflict(error) || left === 1) throw error;
      }
    }
  }

  async function find(id: string): Promise<VersionedRun | undefined> {
    if (!isRunId(id)) throw badId(id);
    const entry = await bucket.get(keys.run(id));
    return entry && { run: decodeRun(entry.value), revision: entry.revision };
  }

  async function add(id: string, { scraper, priority = 0, standing }: RunDraft): Promise<VersionedRun> {
    const at = now();
    const run: RunRecord = {
      id,
      scraper,
      // A standing run is for small things that must not wait.
      state: standing ? 'active' : 'queued',
      priority,
      createdAt: at,
      ...(standing && { startedAt: at }),
      lastSubmitAt: at,
      taken: 0,
      standing,
    };
    try {
      return { run, revision: await bucket.create(keys.run(id), encodeRun(run)) };
    } catch (cause) {
      if (!isConflict(cause)) throw cause;
      throw new Failure('CONFLICT', `there is a run ${id} already`, {
        cause,
        hint: 'Choose another name, or leave it out to get one.',
      });
    }
  }

  function readable(entry: Entry): VersionedRun | undefined {
    try {
      return { run: decodeRun(entry.value), revision: entry.revision };
    } catch (error) {
      log.warn('run.unreadable', { key: entry.key, reason: messageOf(error) });
      return undefined;
    }
  }
}

function idOf(key: string): string {
  return key.slice(keys.run('').length);
}

function badId(id: string): Failure {
  return new Failure('INVALID', `not the name of a run: ${JSON.stringify(id.slice(0, 80))}`, {
    hint: 'Use 1 to 64 letters, digits, - and _.',
  });
}
