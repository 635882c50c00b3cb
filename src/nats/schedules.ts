/**
 * Schedules: one record each in the `cluster` bucket, changed only by compare-and-set, and one message each in
 * SCHEDULES, which makes the server fire. The record rules: the message is put after it, and is mended when it differs.
 */
import { headers as createHeaders } from '@nats-io/nats-core';
import { Failure, messageOf } from '../domain/failure.ts';
import { scheduleHeaders, type ScheduleSpec } from '../policy/schedule-spec.ts';
import { encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import {
  ALL_SCHEDULES,
  decodeSchedule,
  encodeSchedule,
  scheduleKey,
  type ScheduleRecord,
} from '../wire/schedule-record.ts';
import { isConflict, type Bucket, type Entry } from './bucket.ts';
import type { Connection } from './connect.ts';
import { readLast } from './read-last.ts';

/** One that cannot be read is still there, and may be replaced or removed. */
export type StoredSchedule = { readonly name: string; readonly revision: number } & (
  { readonly ok: true; readonly record: ScheduleRecord } | { readonly ok: false; readonly problem: string }
);

type Definition = ScheduleRecord['definition'];

export interface Schedules {
  get(name: string): Promise<StoredSchedule | undefined>;
  list(): Promise<StoredSchedule[]>;
  /** In place of the revision that was read, 0 for none; CONFLICT when that is no longer there. */
  store(name: string, record: ScheduleRecord, expect: number): Promise<void>;
  /** Record, message, and what is due of it; whether there was one. */
  remove(name: string): Promise<boolean>;
  /** The messages that make the server fire, by name. */
  planned(): Promise<Map<string, PlannedSchedule>>;
  /** Makes the server fire. With `expect`, only in place of the message of that sequence, 0 for none. */
  plan(spec: ScheduleSpec, definition: Definition, expect?: number): Promise<void>;
  /** Makes the server stop; with `seq`, only if the message is still that one. */
  unplan(name: string, seq?: number): Promise<void>;
}

export interface PlannedSchedule {
  readonly seq: number;
  /** It has fired, and nobody has dealt with that yet. */
  readonly fired?: boolean;
  /** Whether the message was made from this definition. */
  isOf(definition: Definition): boolean;
}

const TRIES = 20;
const MARKER_TTL_MS = 60_000;

export function createSchedules(
  connection: Connection,
  { bucket, names }: { bucket: Bucket; names: Names },
): Schedules {
  const { js, jsm } = connection;
  const stream = names.stream('SCHEDULES');

  return {
    async get(name) {
      const entry = await bucket.get(scheduleKey(name));
      return entry && read(entry);
    },
    list: async () => (await bucket.list(ALL_SCHEDULES)).map(read),
    async store(name, record, expect) {
      const bytes = encodeSchedule(record);
      if (expect === 0) await bucket.create(scheduleKey(name), bytes);
      else await bucket.put(scheduleKey(name), bytes, { expect });
    },
    async remove(name) {
      const existed = await removeRecord(name);
      await unplan(name);
      await jsm.streams.purge(stream, { filter: names.due(name) });
      return existed;
    },
    async planned() {
      const found = await readLast(connection, { stream, subjects: [names.schedule('*'), names.due('*')] });
      const prefix = names.schedule('');
      const messages = [...found].filter(([subject]) => subject.startsWith(prefix));
      return new Map(
        messages.map(([subject, { seq, data }]) => {
          const name = subject.slice(prefix.length);
          const isOf = (definition: Definition): boolean => Buffer.from(data).equals(encodeJson(definition));
          return [name, { seq, fired: found.has(names.due(name)), isOf }];
        }),
      );
    },
    plan,
    unplan,
  };

  async function plan(spec: ScheduleSpec, definition: Definition, expect?: number): Promise<void> {
    const headers = createHeaders();
    for (const [key, value] of Object.entries(scheduleHeaders(spec, names.due(spec.name))))
      headers.set(key, value);
    const expectation = expect === undefined ? {} : { expect: { lastSubjectSequence: expect } };
    try {
      // No message id: with one, a schedule that was replaced may be forgotten when the server is killed.
      await js.publish(names.schedule(spec.name), encodeJson(definition), { headers, ...expectation });
    } catch (cause) {
      throw new Failure(
        'UNAVAILABLE',
        `the server did not take the schedule ${spec.name}: ${messageOf(cause)}`,
        {
          cause,
          hint: 'It is noted, and a coordinator tries again within a minute or so.',
        },
      );
    }
  }

  async function unplan(name: string, seq?: number): Promise<void> {
    // The server purges what lies before a sequence.
    const upTo = seq === undefined ? {} : { seq: seq + 1 };
    await jsm.streams.purge(stream, { filter: names.schedule(name), ...upTo });
  }

  async function removeRecord(name: string): Promise<boolean> {
    for (let left = TRIES; ; left -= 1) {
      const entry = await bucket.get(scheduleKey(name));
      if (!entry) return false;
      try {
        await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: MARKER_TTL_MS });
        return true;
      } catch (error) {
        if (!isConflict(error) || left === 1) throw error;
      }
    }
  }
}

function read({ key, value, revision }: Entry): StoredSchedule {
  const stored = { name: key.slice(scheduleKey('').length), revision };
  try {
    return { ...stored, ok: true, record: decodeSchedule(value) };
  } catch (error) {
    return { ...stored, ok: false, problem: messageOf(error) };
  }
}
