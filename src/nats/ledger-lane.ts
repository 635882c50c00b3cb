/**
 * Changes the ledger in groups, one group at a time: what waits while one is under way goes into the next.
 *
 * The server writes the members of an atomic batch twice, and makes and removes a store on disk for every batch. So a
 * batch is for changes that have an entry in the index of dead tasks, and, where the server syncs every message, for
 * groups that are large enough to pay for it. All other changes are stored by themselves, and then counted; only then is
 * anybody told, and may acknowledge. So what is stored and not counted, because its writer died, is still
 * unacknowledged: it comes again, and is counted by whoever meets it.
 */
import { messageOf } from '../domain/failure.ts';
import type { Counted } from '../policy/counted.ts';
import type { Log } from '../telemetry/log.ts';
import { addStamp, encodeStamp } from '../wire/task-codec.ts';
import type { Names } from '../wire/names.ts';
import type { ChangeOutcome, CommitLane } from './commit-lane.ts';
import type { Connection } from './connect.ts';
import type { CountedChange } from './ledger-batches.ts';
import { readRecord } from './ledger-reader.ts';
import type { LedgerTally, WriterTally } from './ledger-tally.ts';
import type { Publisher, PublishOutcome } from './publisher.ts';
import { REFUSED_CONFLICT } from './publisher/answer.ts';

export interface RecordChange extends CountedChange {
  readonly id: string;
  /** The sequence of the record that it replaces; 0: there must be none. */
  readonly expect: number;
}

export interface LaneParts {
  readonly connection: Connection;
  readonly names: Names;
  readonly publisher: Pick<Publisher, 'publishMany'>;
  readonly tally: LedgerTally;
  readonly batches: CommitLane<RecordChange>;
  /** Nobody else's, in any life. */
  readonly writer: string;
  /** Groups up to this size are stored by themselves. */
  readonly singlesMax: number;
  readonly log: Log;
}

export interface LedgerLane {
  commit(change: RecordChange): Promise<ChangeOutcome>;
  /** The outcomes of all of them, when the last one is known. */
  commitMany(changes: readonly RecordChange[]): Promise<readonly ChangeOutcome[]>;
  pending(): number;
  /** What is still under way fails. */
  close(): void;
}

interface StoredChange extends RecordChange {
  readonly seq: number;
}

interface Entry {
  readonly change: RecordChange;
  readonly resolve: (outcome: ChangeOutcome) => void;
}

const CLOSED: ChangeOutcome = { kind: 'failed', reason: 'closed' };
/** What is stored in one go: its answers are waited for together. */
const GROUP_MAX = 1_000;
/** Whoever slept so long does not know what happened to the run meanwhile: it may even be gone. */
const FRESH_MS = 2_000;

export function createLedgerLane(parts: LaneParts): LedgerLane {
  const { connection, names, publisher, tally, batches, singlesMax, log } = parts;
  const queue: Entry[] = [];
  let underWay = 0;
  let running = false;
  let closed = false;
  let lives = 0;
  let life = begin();

  return {
    commit: (change) => new Promise((resolve) => add({ change, resolve })),
    commitMany: (changes) =>
      new Promise((resolve) => {
        const outcomes: ChangeOutcome[] = [];
        let left = changes.length;
        if (left === 0) resolve(outcomes);
        for (const [at, change] of changes.entries())
          add({
            change,
            resolve(outcome) {
              outcomes[at] = outcome;
              left -= 1;
              if (left === 0) resolve(outcomes);
            },
          });
      }),
    pending: () => queue.length + underWay + batches.pending(),
    close() {
      closed = true;
      for (const { resolve } of queue.splice(0)) resolve(CLOSED);
      batches.close();
    },
  };

  function add(entry: Entry): void {
    // So many wait for a batch that whoever comes now goes with them.
    if (closed || batches.pending() > singlesMax) {
      void storeTogether([entry]);
      return;
    }
    queue.push(entry);
    if (!running) void run();
  }

  /** A name whose last group may not be counted as a whole is not used again: its next group would cover that up. */
  function begin(): { readonly writer: string; readonly tally: WriterTally; group: number } {
    lives += 1;
    const writer = `${parts.writer}-s${lives}`;
    return { writer, tally: tally.openWriter(writer), group: 0 };
  }

  async function run(): Promise<void> {
    running = true;
    // Whatever is asked for in this turn of the loop travels together.
    await Promise.resolve();
    while (queue.length > 0) {
      const entries = queue.splice(0, GROUP_MAX);
      const plain = entries.filter(({ change }) => change.index === undefined);
      if (plain.length > singlesMax) await storeTogether(entries);
      else {
        const indexed = entries.filter(({ change }) => change.index !== undefined);
        await Promise.all([storeSingly(plain), storeTogether(indexed)]);
      }
    }
    running = false;
  }

  async function storeTogether(entries: readonly Entry[]): Promise<void> {
    await Promise.all(entries.map(({ change, resolve }) => batches.commit(change).then(resolve)));
  }

  async function storeSingly(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    underWay = entries.length;
    const outcomes = await storeGroup(entries.map(({ change }) => change));
    underWay = 0;
    for (const [at, { resolve }] of entries.entries()) resolve(outcomes[at] ?? CLOSED);
  }

  async function storeGroup(changes: readonly RecordChange[]): Promise<readonly ChangeOutcome[]> {
    const began = performance.now();
    life.group += 1;
    const { writer, group, tally: counters } = life;
    const stamp = encodeStamp({ writer, group });
    const published = await publisher.publishMany(
      changes.map(({ subject, payload, expect }) => ({ subject, payload: addStamp(payload, stamp), expect })),
    );
    const outcomes = published.map(outcomeOf);
    const stored = changes.flatMap((change, at) => {
      const outcome = outcomes[at];
      return outcome?.kind === 'stored' ? [{ ...change, seq: outcome.seq }] : [];
    });
    const isKnown = published.every(({ kind }) => kind !== 'unknown');
    try {
      const isFresh = isKnown && performance.now() - began < FRESH_MS;
      if (isFresh && (await countAll(counters, stored, group))) return outcomes;
      life = begin();
      await countWhatIsThere(stored);
      return outcomes;
    } catch (error) {
      life = begin();
      const reason = `stored, but not counted: ${messageOf(error)}`;
      if (!closed) log.warn('ledger.uncounted', { changes: stored.length, reason: messageOf(error) });
      return outcomes.map((outcome) => (outcome.kind === 'stored' ? { kind: 'failed', reason } : outcome));
    }
  }

  async function countAll(
    counters: WriterTally,
    stored: readonly StoredChange[],
    group: number,
  ): Promise<boolean> {
    const byRun = new Map<string, Counted[]>();
    for (const { run, seq, delta } of stored) {
      const change = { seq, group, delta };
      if (!byRun.get(run)?.push(change)) byRun.set(run, [change]);
    }
    const counts = [...byRun].map(([run, counted]) => counters.count(run, counted, group));
    return (await Promise.all(counts)).every((counted) => counted);
  }

  /** Like somebody else. What is no longer there was counted before it was replaced, or has gone with its run. */
  async function countWhatIsThere(stored: readonly StoredChange[]): Promise<void> {
    const found = await Promise.all(stored.map((change) => readRecord(connection, names, change)));
    await tally.ensureCounted(found.filter((record) => record !== undefined));
  }
}

function outcomeOf(published: PublishOutcome): ChangeOutcome {
  if (published.kind === 'stored') return published;
  if (published.kind === 'refused' && published.code === REFUSED_CONFLICT) return { kind: 'refused' };
  return { kind: 'failed', reason: published.reason };
}
