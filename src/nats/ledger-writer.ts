/** Writes the ledger: each change a compare-and-set on its task's subject, counted before anybody is told of it. */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../domain/failure.ts';
import type { LedgerRecord, TaskSpec } from '../domain/task.ts';
import { deltaOf } from '../policy/counted.ts';
import type { CountRecord } from '../policy/counters.ts';
import type { Log } from '../telemetry/log.ts';
import { encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { encodeRecord } from '../wire/task-codec.ts';
import type { ChangeOutcome } from './commit-lane.ts';
import type { Connection } from './connect.ts';
import type { Acceptable, DeadMark, LedgerWriter } from './ledger.ts';
import { createLedgerBatches } from './ledger-batches.ts';
import { createLedgerLane, type LedgerLane, type RecordChange } from './ledger-lane.ts';
import { readRecord } from './ledger-reader.ts';
import { createLedgerTally } from './ledger-tally.ts';
import { createPublisherCore } from './publisher/core.ts';

export interface LedgerWriterOptions {
  readonly names: Names;
  /** Whether the server syncs before it answers. */
  readonly durability: 'always' | 'interval';
  readonly batchMax: number;
  readonly ackTimeoutMs: number;
  /** Groups under way at once; each lane counts for itself. */
  readonly lanes?: number;
  readonly log: Log;
}

const LANES = 2;
/** From how many changes on a batch is cheaper: with `always` the server syncs once per message, or a few times per batch. */
const SINGLES_MAX = { always: 8, interval: Infinity } as const;
const NO_LONGER_DEAD = new Uint8Array();

export function createLedgerWriter(connection: Connection, options: LedgerWriterOptions): LedgerWriter {
  const { names, durability, log } = options;
  const publisher = createPublisherCore(
    connection,
    {
      stream: names.stream('LEDGER'),
      durability: 'interval', // one by one
      window: 4_096,
      windowBytes: 64 * 1024 * 1024,
      batch: 1,
      ackTimeoutMs: options.ackTimeoutMs,
      // A change in doubt is looked into for as long as this process lives.
      giveUpMs: Infinity,
      log,
    },
    { atomic: true, mayVanish: false },
  );
  const tally = createLedgerTally({ connection, names, publisher });
  const life = randomBytes(9).toString('base64url');
  const lanes = Array.from({ length: options.lanes ?? LANES }, (_, index) => createLane(`${life}-${index}`));
  let turn = 0;

  return {
    accept: (records) => nextLane().commitMany(records.map(acceptance)),
    settle(outcome, acceptSeq, packed) {
      const { spec } = outcome;
      // Not async: until it is stored, only its bytes need to be kept.
      return nextLane()
        .commit(changeTo(outcome, acceptSeq, deltaOf(outcome), { packed }))
        .then((settled) => (settled.kind === 'refused' ? countOther(spec, acceptSeq) : settled));
    },
    redrive: (record, deadSeq) =>
      nextLane().commit(changeTo(record, deadSeq, { redriven: 1 }, { mark: NO_LONGER_DEAD })),
    drop: (outcome, deadSeq) =>
      nextLane().commit(changeTo(outcome, deadSeq, { redriven: 1, cancelled: 1 }, { mark: NO_LONGER_DEAD })),
    ensureCounted: (found) => tally.ensureCounted(found),
    pending: () => lanes.reduce((sum, lane) => sum + lane.pending(), 0),
    close() {
      for (const lane of lanes) lane.close();
      void publisher.close();
    },
  };

  function nextLane(): LedgerLane {
    turn = (turn + 1) % lanes.length;
    return lanes[turn] as LedgerLane;
  }

  function acceptance(record: Acceptable): RecordChange {
    return changeTo(record, 0, record.state === 'dead' ? { accepted: 1, dead: 1 } : deltaOf(record));
  }

  function changeTo(
    record: LedgerRecord,
    expect: number,
    delta: Partial<CountRecord>,
    { mark = deadMark(record), packed }: { mark?: Uint8Array; packed?: Uint8Array | undefined } = {},
  ): RecordChange {
    const { run, id } = record.spec;
    const payload = packed ?? encodeRecord(record);
    const change = { run, id, subject: names.ledger(run, id), payload, expect, delta };
    return mark ? { ...change, index: { subject: names.dead(run, id), payload: mark } } : change;
  }

  /** Whoever is refused lets the task go, and may be the last to know of it: what is there instead must be counted. */
  async function countOther(spec: TaskSpec, acceptSeq: number): Promise<ChangeOutcome> {
    try {
      const found = await readRecord(connection, names, spec);
      if (found?.seq === acceptSeq)
        return { kind: 'failed', reason: 'refused by a server that leads no more' };
      if (found) await tally.ensureCounted([found]);
      return { kind: 'refused' };
    } catch (error) {
      return { kind: 'failed', reason: `refused, and what is there cannot be counted: ${messageOf(error)}` };
    }
  }

  function createLane(writer: string): LedgerLane {
    const batches = createLedgerBatches(connection, { ...options, writer });
    const singlesMax = SINGLES_MAX[durability];
    return createLedgerLane({ connection, names, publisher, tally, batches, writer, singlesMax, log });
  }
}

function deadMark(record: LedgerRecord): Uint8Array | undefined {
  if (record.state !== 'dead') return undefined;
  const { spec, at, error, original } = record;
  const unreadable = original === undefined ? {} : { unreadable: true };
  return encodeJson({ scraper: spec.scraper, at, ...error, ...unreadable } satisfies DeadMark);
}
