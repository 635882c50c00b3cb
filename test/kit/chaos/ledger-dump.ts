/** The ledger with everything that it ever held: the test lets it keep what it would replace. */
import type { Connection } from '../../../src/nats/connect.ts';
import type { Names } from '../../../src/wire/names.ts';
import { decodeCount, decodeStored } from '../../../src/wire/task-codec.ts';
import type { LedgerEntry } from './story.ts';

const VERSIONS_KEPT = 1_000_000;

export async function keepAllVersions({ jsm }: Connection, names: Names): Promise<void> {
  const stream = names.stream('LEDGER');
  const { config } = await jsm.streams.info(stream);
  await jsm.streams.update(stream, { ...config, max_msgs_per_subject: VERSIONS_KEPT });
}

export async function dumpLedger({ js, jsm }: Connection, names: Names): Promise<LedgerEntry[]> {
  const stream = names.stream('LEDGER');
  const { state } = await jsm.streams.info(stream);
  const entries: LedgerEntry[] = [];
  if (state.messages === 0) return entries;
  const consumer = await js.consumers.get(stream);
  const messages = await consumer.consume();
  for await (const { subject, data, seq } of messages) {
    const entry = readEntry({ subject, data, seq });
    if (entry) entries.push(entry);
    if (seq >= state.last_seq) break;
  }
  if (state.first_seq !== 1) throw new Error(`the ledger has lost its first ${state.first_seq - 1} messages`);
  return entries;
}

function readEntry({
  subject,
  data,
  seq,
}: {
  subject: string;
  data: Uint8Array;
  seq: number;
}): LedgerEntry | undefined {
  const [, kind, run = '', id = ''] = subject.split('.');
  if (kind === 'count') return { type: 'count', run, writer: id, counts: decodeCount(data) };
  if (kind !== 'ledger') return undefined;
  const { record, by } = decodeStored(data);
  return {
    type: 'task',
    task: `${run}.${id}`,
    state: record.state,
    ...(record.state === 'done' && { items: record.result.items }),
    ...(record.state === 'dead' && { code: record.error.code }),
    ...(by && { by: { ...by, seq } }),
  };
}

/** What a stream still holds; the subjects of tasks end in `<run>.<id>`. */
export async function listMessages(
  { jsm }: Connection,
  stream: string,
): Promise<{ readonly at: string; readonly subject: string; readonly task: string }[]> {
  const { state } = await jsm.streams.info(stream);
  const found: { at: string; subject: string; task: string }[] = [];
  for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(stream, { seq });
    if (!message) continue;
    const { subject, time } = message;
    found.push({ at: time.toISOString(), subject, task: subject.split('.').slice(-2).join('.') });
  }
  return found;
}
