/**
 * The records of tasks ↔ bytes: msgpack maps with their full names and the version of the layout, `v`. A reader leaves
 * out fields it does not know, so fields may be added within a version; a new version is for a change of meaning.
 *
 * Not `codec.ts`: what scrapers store is data, and may have any key (`constructor` is a field of motor racing).
 */
import { Packr } from 'msgpackr';
import * as v from 'valibot';
import { Failure, messageOf } from '../domain/failure.ts';
import { PRIORITIES, type LedgerRecord, type TaskMessage } from '../domain/task.ts';
import { readTask } from './read-task.ts';

const VERSION = 1;

/** How msgpack begins a map of fewer than 16 fields. */
const SMALL_MAP = 0x80;
const SMALL_MAP_FIELDS = 15;

const options = {
  useRecords: false,
  variableMapSize: true,
  // References are off, since a few hundred bytes of them can unfold into more than a machine holds.
  structuredClone: false,
  // A field that is undefined is a field that is absent. (The packer's types do not know this option.)
  skipValues: [undefined],
};
const packr = new Packr(options);

const VERSION_FIELD = Buffer.concat([packr.pack('v'), packr.pack(VERSION)]);

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const epochMs = count;
const text = v.string();
// `v.record` would drop keys such as `constructor`.
const input = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'not an object',
);

const spec = v.object({
  id: text,
  run: text,
  scraper: text,
  url: v.exactOptional(text),
  key: v.exactOptional(text),
  input: v.exactOptional(input),
  priority: v.picklist(PRIORITIES),
  createdAt: epochMs,
  notBefore: v.exactOptional(epochMs),
  intake: v.exactOptional(count),
  depth: v.exactOptional(count),
  parent: v.exactOptional(text),
});

const fault = v.object({
  at: epochMs,
  code: text,
  message: text,
  worker: text,
  proxy: v.exactOptional(text),
  ms: v.number(),
});

/** For the test that holds the quick way to it. */
export const taskShape = v.object({
  spec,
  acceptSeq: count,
  faults: v.array(fault),
  triedProxies: v.array(text),
  deferrals: count,
  deferredSince: v.optional(epochMs),
});

const common = { spec, at: epochMs, faults: v.array(fault) };
const blob = v.object({ upload: text, chunks: count, bytes: count, sha256: text, items: count });
const emitted = v.object({ items: v.array(v.unknown()), data: v.exactOptional(v.unknown()) });
const result = v.object({
  items: v.array(v.unknown()),
  pages: count,
  bytes: count,
  data: v.exactOptional(v.unknown()),
  blob: v.exactOptional(blob),
  published: v.exactOptional(count),
  total: v.exactOptional(count),
  errors: v.exactOptional(count),
  badItems: v.exactOptional(v.array(v.object({ index: count, problem: text, item: v.unknown() }))),
});

const record = v.variant('state', [
  v.object({ ...common, state: v.literal('queued') }),
  v.object({ ...common, state: v.literal('done'), worker: text, startedAt: epochMs, result }),
  v.object({
    ...common,
    state: v.literal('dead'),
    error: v.object({ code: text, message: text }),
    original: v.exactOptional(v.instance(Uint8Array)),
  }),
  v.object({ ...common, state: v.literal('cancelled'), reason: text }),
]);

const stamp = v.object({ writer: text, group: count });

/** A counter that a writer of an older version does not keep is 0. */
const total = v.optional(count, 0);
const counts = v.object({
  accepted: total,
  duplicates: total,
  done: total,
  dead: total,
  cancelled: total,
  redriven: total,
  items: total,
  recent: v.optional(v.array(count), []),
  group: total,
  extra: v.optional(v.array(count), []),
});

/**
 * Cumulative totals of one writer for one run, and what is in them: of duplicates the intake sequences `recent`, of
 * changes that were stored by themselves those of `policy/counted.ts`.
 */
export type CountRecord = ReadonlyLists<v.InferOutput<typeof counts>>;

type ReadonlyLists<T> = { readonly [Name in keyof T]: Readonly<T[Name]> };

export const encodeTask = (task: TaskMessage): Uint8Array => pack('a task', task);
export function decodeTask(bytes: Uint8Array): TaskMessage {
  const value = open('a task', bytes);
  return readTask(value) ?? parse('a task', taskShape, value);
}

export const encodeRecord = (entry: LedgerRecord): Uint8Array => pack('a ledger record', entry);
export const decodeRecord = (bytes: Uint8Array): LedgerRecord => unpack('a ledger record', record, bytes);

/** By whom a record was stored by itself, and in which of its groups. See `policy/counted.ts`. */
export interface Stamp {
  readonly writer: string;
  readonly group: number; // from 1
}

/** The stamp is no part of the record: whoever changes a record must not take it along. */
export function decodeStored(bytes: Uint8Array): { readonly record: LedgerRecord; readonly by?: Stamp } {
  const value = open('a ledger record', bytes);
  const by = value['by'];
  return {
    record: parse('a ledger record', record, value),
    ...(by !== undefined && { by: parse('the stamp of a ledger record', stamp, by) }),
  };
}

/** The end of a record with this stamp; for all that one writer stores in one group it is the same. */
export function encodeStamp({ writer, group }: Stamp): Uint8Array {
  return Buffer.concat([packr.pack('by'), packr.pack({ writer, group })]);
}

/** A packed record with a stamp: a map of a few fields is its size, in the first byte, and then the fields. */
export function addStamp(entry: Uint8Array, end: Uint8Array): Uint8Array {
  const size = entry[0] ?? 0;
  if (!isSmallMap(size)) throw new Failure('INTERNAL', 'no small map');
  const whole = Buffer.allocUnsafe(entry.length + end.length);
  whole.set(entry);
  whole.set(end, entry.length);
  whole[0] = size + 1;
  return whole;
}

/** What a handler emitted, where it is kept apart from the record. */
export interface Emitted {
  readonly items: readonly unknown[];
  readonly data?: unknown;
}
export const encodeEmitted = (entry: Emitted): Uint8Array => pack('what a task emitted', entry);
export const decodeEmitted = (bytes: Uint8Array): Emitted => unpack('what a task emitted', emitted, bytes);

export const encodeCount = (entry: Partial<CountRecord>): Uint8Array => pack('a count', entry);
export const decodeCount = (bytes: Uint8Array): CountRecord => unpack('a count', counts, bytes);

function pack(what: string, value: object): Uint8Array {
  try {
    return addVersion(packr.pack(value));
  } catch (cause) {
    throw new Failure('INVALID', `${what} cannot be stored: ${messageOf(cause)}`, {
      cause,
      hint: 'Emit plain data: text, numbers, lists, objects and bytes.',
    });
  }
}

/**
 * A copy, because the packer's own buffer is as large as the largest message so far, and a publisher that waits for the
 * acknowledgement of a small one would hold all of it. The version goes in front of the fields while they are copied.
 */
function addVersion(packed: Uint8Array): Uint8Array {
  const size = packed[0] ?? 0;
  if (!isSmallMap(size)) throw new Failure('INTERNAL', 'no small map');
  const whole = Buffer.allocUnsafe(packed.length + VERSION_FIELD.length);
  whole[0] = size + 1;
  whole.set(VERSION_FIELD, 1);
  whole.set(packed.subarray(1), 1 + VERSION_FIELD.length);
  return whole;
}

/** Of which one more field still makes a small map. */
function isSmallMap(first: number): boolean {
  return first >= SMALL_MAP && first < SMALL_MAP + SMALL_MAP_FIELDS;
}

function unpack<Schema extends v.GenericSchema>(
  what: string,
  schema: Schema,
  bytes: Uint8Array,
): v.InferOutput<Schema> {
  return parse(what, schema, open(what, bytes));
}

function open(what: string, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const value = unpackAny(what, bytes);
  if (value['v'] === VERSION) return value;
  throw new Failure('INVALID', `not ${what} of version ${VERSION}`, {
    hint: 'If its writer is newer, update this program.',
  });
}

function parse<Schema extends v.GenericSchema>(
  what: string,
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'the whole'}: ${issue.message}`);
  throw new Failure('INVALID', `not ${what}: ${problems.join('; ')}`);
}

function unpackAny(what: string, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = packr.unpack(bytes);
  } catch (cause) {
    throw new Failure('INVALID', `not ${what}: the bytes are not msgpack`, { cause });
  }
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  throw new Failure('INVALID', `not ${what}: the bytes hold no map`);
}
