/**
 * Stores a run on the leader's authority. Two conditions must hold at once: nobody has changed the run since it was
 * read, and this leader still leads. The server checks one condition per message, so two messages go as one atomic
 * batch: the run under its own revision, and the leader's note under the lock's.
 */
import { headers as createHeaders, nuid } from '@nats-io/nats-core';
import { Failure } from '../domain/failure.ts';
import { encodeJson } from '../wire/codec.ts';
import { keys } from '../wire/names.ts';
import { encodeRun } from '../wire/run-record.ts';
import { ask } from './ask.ts';
import type { Bucket } from './bucket.ts';
import { WRITE_ID_HEADER } from './bucket-write.ts';
import type { Connection } from './connect.ts';
import type { Lock } from './lock.ts';
import type { StoreRun } from './runs.ts';

/** The last run that a leader changed, and who it was. */
const NOTE_KEY = 'control.led';
const LIMIT_MS = 5_000;
const EXPECT = 'Nats-Expected-Last-Subject-Sequence';
const EXPECT_SUBJECT = 'Nats-Expected-Last-Subject-Sequence-Subject';
const WRONG_SEQUENCE = new Set([10_071, 10_164]);

interface CommitReply {
  readonly seq?: number;
  readonly error?: { readonly err_code: number; readonly description: string };
}

/** Throws CONFLICT when either condition does not hold, and TIMEOUT when nobody can tell: read again and decide anew. */
export function createFencedStore(connection: Connection, bucket: Bucket, lock: Lock): StoreRun {
  const subjectOf = (key: string): string => `$KV.${bucket.name}.${key}`;

  return async (run, expect) => {
    const id = nuid.next();
    const token = lock.token();
    const value = encodeRun(run);
    connection.nc.publish(subjectOf(keys.run(run.id)), value, {
      headers: member(id, 1, [[EXPECT, String(expect)]]),
    });
    const answer = await ask(connection, {
      subject: subjectOf(NOTE_KEY),
      payload: encodeJson({ run: run.id, state: run.state }),
      headers: member(id, 2, [
        [EXPECT, String(token)],
        [EXPECT_SUBJECT, subjectOf(keys.lock(lock.name))],
        ['Nats-Batch-Commit', '1'],
      ]),
      limitMs: LIMIT_MS,
    });
    if (answer.kind !== 'reply') return findStored(run.id, value);
    const { seq, error } = answer.message.json<CommitReply>();
    if (seq !== undefined && !error) return seq - 1; // the note is the last of the two
    if (!error) return findStored(run.id, value);
    const code = WRONG_SEQUENCE.has(error.err_code) ? 'CONFLICT' : 'UNAVAILABLE';
    throw new Failure(code, `run ${run.id} was not stored: ${error.description}`);
  };

  /** Nobody answered: the record itself tells whether it is ours. */
  async function findStored(id: string, value: Uint8Array): Promise<number> {
    const entry = await bucket.get(keys.run(id));
    if (entry && Buffer.compare(entry.value, value) === 0) return entry.revision;
    throw new Failure('TIMEOUT', `it is not known whether run ${id} was stored`);
  }
}

function member(
  batch: string,
  place: number,
  fields: readonly (readonly [string, string])[],
): ReturnType<typeof createHeaders> {
  const set = createHeaders();
  set.set('Nats-Batch-Id', batch);
  set.set('Nats-Batch-Sequence', String(place));
  set.set(WRITE_ID_HEADER, batch);
  for (const [name, value] of fields) set.set(name, value);
  return set;
}
