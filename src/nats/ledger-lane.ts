/**
 * Changes the ledger in groups, one group at a time: what waits while one is under way goes into the next.
 *
 * The server makes and removes a store on disk for every atomic batch, which takes it milliseconds. So a batch is for
 * groups that are large enough to pay for it, and for changes that have an entry in the index of dead tasks. Few plain
 * changes are stored by themselves, and then counted; only then is anybody told, and may acknowledge. So what is
 * stored and not counted, because its writer died, is still unacknowledged: it comes again, and is counted by
 * whoever meets it.
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
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly tally: LedgerTally;
  readonly batches: CommitLane<RecordChange>;
  /** Nobody else's, in any life. */
  readonly writer: string;
  /** As many are stored by themselves. */
  readonly singlesMax: number;
  readonly log: Log;
}

export interface LedgerLane {
  commit(change: RecordChange): Promise<ChangeOutcome>;
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
    commit(change) {
      // So many wait for a batch that whoever comes now goes with them.
      if (closed || batches.pending() > singlesMax) return batches.commit(change);
      return new Promise((resolve) => {
        queue.push({ change, resolve });
        if (!running) void run();
      });
    },
    pending: () => queue.length + underWay + batches.pending(),
    close() {
      closed = true;
      for (const { resolve } of queue.splice(0)) resolve(CLOSED);
      batches.close();
    },
  };

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
      const entries = queue.splice(0);
      const isLight =
        entries.length <= singlesMax && entries.every(({ change }) => change.index === undefined);
      await (isLight ? storeSingly(entries) : storeTogether(entries));
    }
    running = false;
  }

  async function storeTogether(entries: readonly Entry[]): Promise<void> {
    await Promise.all(entries.map(({ change, resolve }) => batches.commit(change).then(resolve)));
  }

  async function storeSingly(entries: readonly Entry[]): Promise<void> {
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
    const published = await Promise.all(
      changes.map(({ subject, payload, expect }) =>
        publisher.publish({ subject, payload: addStamp(payload, stamp), expect }),
      ),
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
