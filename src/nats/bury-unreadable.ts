/** A message among the tasks that is none. If its subject names a task that waits, that task gets its end here. */
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import type { LedgerReader, LedgerWriter } from './ledger.ts';
import type { Unreadable } from './task-delivery.ts';
import type { TaskWords } from './task-words.ts';

const AGAIN_MS = 30_000;

export async function buryUnreadable(
  message: Unreadable,
  parts: {
    readonly reader: Pick<LedgerReader, 'read'>;
    readonly writer: Pick<LedgerWriter, 'settle' | 'ensureCounted'>;
    readonly words: Pick<TaskWords, 'ack' | 'giveBack'>;
    readonly log: Log;
  },
): Promise<void> {
  const { subject, reason } = message;
  parts.log.warn('task.unreadable', { subject, reason });
  try {
    const settled = await settle(message, parts);
    if (settled) parts.words.ack(message);
    else parts.words.giveBack(message, AGAIN_MS);
  } catch (error) {
    parts.log.warn('task.unstored', { subject, reason: messageOf(error) });
    parts.words.giveBack(message, AGAIN_MS);
  }
}

async function settle(
  { subject, data, reason }: Unreadable,
  {
    reader,
    writer,
  }: { reader: Pick<LedgerReader, 'read'>; writer: Pick<LedgerWriter, 'settle' | 'ensureCounted'> },
): Promise<boolean> {
  const [run = '', id = ''] = subject.split('.').slice(-2);
  const stored = await reader.read(run, id);
  if (!stored) return true;
  await writer.ensureCounted([stored]);
  if (stored.record.state !== 'queued') return true;
  const { spec, faults } = stored.record;
  const error = { code: 'INVALID', message: `its message cannot be read: ${reason}` };
  const dead = { state: 'dead', spec, at: Date.now(), faults, error, original: data } as const;
  return (await writer.settle(dead, stored.seq)).kind !== 'failed';
}
