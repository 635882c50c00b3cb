/** Reads the ledger: single tasks, many at once, and the counters of a run. */
import { NO_COUNTS, sumCounts, type CountRecord } from '../policy/counters.ts';
import { decode } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { decodeCount, decodeStored } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import type { DeadMark, LedgerReader, Stored } from './ledger.ts';
import { readLast } from './read-last.ts';

/** The server takes 1,024 subjects in one request. */
const READ_MAX = 1_000;
/** Runs whose counters are read in one request: each has some from every worker. */
const COUNTED_MAX = 20;

export function createLedgerReader(connection: Connection, names: Names): LedgerReader {
  const stream = names.stream('LEDGER');

  return {
    read: (run, id) => readRecord(connection, names, { run, id }),
    async readMany(run, ids) {
      const found = new Map<string, Stored>();
      for (let at = 0; at < ids.length; at += READ_MAX) {
        const some = ids.slice(at, at + READ_MAX);
        const last = await readLast(connection, {
          stream,
          subjects: some.map((id) => names.ledger(run, id)),
        });
        for (const id of some) {
          const message = last.get(names.ledger(run, id));
          if (message) found.set(id, { seq: message.seq, ...decodeStored(message.data) });
        }
      }
      return found;
    },
    async counts(run) {
      const last = await readLast(connection, { stream, subjects: [names.count(run, '*')] });
      return sumCounts([...last.values()].map(({ data }) => decodeCount(data)));
    },
    async countsOfMany(runs) {
      const groups = Array.from({ length: Math.ceil(runs.length / COUNTED_MAX) }, (_, at) =>
        runs.slice(at * COUNTED_MAX, (at + 1) * COUNTED_MAX),
      );
      const found = await Promise.all(
        groups.map((group) =>
          readLast(connection, { stream, subjects: group.map((run) => names.count(run, '*')) }),
        ),
      );
      const byRun = new Map<string, CountRecord>();
      for (const [subject, { data }] of found.flatMap((last) => [...last])) {
        const { run } = tokensOf(subject);
        byRun.set(run, sumCounts([byRun.get(run) ?? NO_COUNTS, decodeCount(data)]));
      }
      return byRun;
    },
    async listDead(run = '*') {
      const last = await readLast(connection, { stream, subjects: [names.dead(run, '*')] });
      return [...last].flatMap(([subject, { data }]) => {
        if (data.length === 0) return []; // put back since
        return [{ ...(decode(data) as DeadMark), ...tokensOf(subject) }];
      });
    },
    async findRuns(id) {
      const last = await readLast(connection, { stream, subjects: [names.ledger('*', id)] });
      return [...last.keys()].map((subject) => tokensOf(subject).run);
    },
  };
}

/** From the leader of the stream, as it is now. */
export async function readRecord(
  { jsm }: Connection,
  names: Names,
  { run, id }: { readonly run: string; readonly id: string },
): Promise<Stored | undefined> {
  const query = { last_by_subj: names.ledger(run, id) };
  const message = await jsm.streams.getMessage(names.stream('LEDGER'), query);
  return message ? { seq: message.seq, ...decodeStored(message.data) } : undefined;
}

/** `….<run>.<id>` */
function tokensOf(subject: string): { run: string; id: string } {
  const tokens = subject.split('.');
  return { run: tokens.at(-2) ?? '', id: tokens.at(-1) ?? '' };
}
