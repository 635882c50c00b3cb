/**
 * What actors have counted, as it lies in the `cluster` bucket: one record per life, one for all lives that are over,
 * one for all runs that are gone. As JSON: people watch that bucket.
 */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import {
  ANSWER_CLASSES,
  DURATION_BOUNDS_S,
  type DurationSums,
  type HostSums,
  type TallySums,
} from '../domain/tally.ts';
import { decode, encodeJson } from './codec.ts';

const amount = v.pipe(v.number(), v.minValue(0));
const named = v.record(v.string(), amount);
const durations = v.object({ counts: v.array(amount), seconds: amount });
const host = v.object({ requests: v.array(amount), blocks: amount, seconds: amount, score: amount });

const sums = v.object({
  starts: named,
  refused: amount,
  retried: named,
  deferred: named,
  pages: named,
  bytes: amount,
  task: durations,
  wait: durations,
  page: durations,
  /** Each as one flat list, read by hand: there are a hundred in every record, and the records come all the time. */
  hosts: v.array(v.unknown()),
  otherHosts: host,
});

const life = v.object({
  role: v.string(),
  actor: v.string(),
  startedAt: amount, // as its heartbeat has it
  /** Grows with every record of this life. */
  serial: amount,
  /** Nothing more comes: the life is over, or somebody took it for that. */
  closed: v.boolean(),
  sums,
});

const past = v.object({
  sums,
  /** Of late: lives that are in the sums, at the serial they had. Whoever finds one of these beside it leaves it out. */
  lives: v.array(v.tuple([v.string(), amount])),
});

const counts = v.object({
  accepted: amount,
  duplicates: amount,
  done: amount,
  dead: amount,
  cancelled: amount,
  redriven: amount,
  items: amount,
});

const gone = v.object({
  counts,
  /** Of late: runs that are in the sums; whoever finds one of these beside it leaves it out. */
  runs: v.array(v.string()),
});

/** What one life of an actor has counted since it began. */
export interface LifeRecord extends Omit<v.InferOutput<typeof life>, 'sums'> {
  readonly sums: TallySums;
}

/** What all lives have counted that are over. */
export interface PastRecord extends Omit<v.InferOutput<typeof past>, 'sums'> {
  readonly sums: TallySums;
}

/** What became of the tasks of all runs that were removed. */
export type GoneRecord = Readonly<v.InferOutput<typeof gone>>;

export const encodeLife = (record: LifeRecord): Uint8Array =>
  encodeJson({ ...record, sums: packed(record.sums) });
export const encodePast = (record: PastRecord): Uint8Array =>
  encodeJson({ ...record, sums: packed(record.sums) });
export const encodeGone = (record: GoneRecord): Uint8Array => encodeJson(record);

export function decodeLife(bytes: Uint8Array): LifeRecord {
  const record = read(life, bytes);
  return { ...record, sums: unpacked(record.sums) };
}

export function decodePast(bytes: Uint8Array): PastRecord {
  const record = read(past, bytes);
  return { ...record, sums: unpacked(record.sums) };
}

export function decodeGone(bytes: Uint8Array): GoneRecord {
  return read(gone, bytes);
}

/** A run by its name and its beginning: a name may be used again. */
export function runMark({ id, createdAt }: { readonly id: string; readonly createdAt: number }): string {
  return `${id} ${createdAt}`;
}

function packed(tally: TallySums): object {
  const hosts = [...tally.hosts].map(([name, { requests, blocks, seconds, score }]) => {
    return [name, blocks, seconds, score, ...requests];
  });
  return { ...tally, hosts };
}

function unpacked(stored: v.InferOutput<typeof sums>): TallySums {
  const { hosts, otherHosts, task, wait, page, ...rest } = stored;
  return {
    ...rest,
    task: fitted(task),
    wait: fitted(wait),
    page: fitted(page),
    hosts: new Map(hosts.map(readHost)),
    otherHosts: { ...otherHosts, requests: padded(otherHosts.requests) },
  };
}

function readHost(flat: unknown): [name: string, sums: HostSums] {
  const [name, ...numbers] = Array.isArray(flat) ? (flat as readonly unknown[]) : [];
  if (typeof name !== 'string' || !numbers.every(isAmount))
    throw new Failure('INVALID', 'not a tally: a host in it is none');
  const [blocks = 0, seconds = 0, score = 0, ...requests] = numbers;
  return [name, { requests: padded(requests), blocks, seconds, score }];
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

/** Another version may have had other bounds; its durations still count, as long ones. */
function fitted({ counts: found, seconds }: DurationSums): DurationSums {
  if (found.length === DURATION_BOUNDS_S.length + 1) return { counts: found, seconds };
  const all = found.reduce((sum, count) => sum + count, 0);
  return { counts: [...DURATION_BOUNDS_S.map(() => 0), all], seconds };
}

function padded(requests: readonly number[]): number[] {
  return ANSWER_CLASSES.map((_, place) => requests[place] ?? 0);
}

function read<Schema extends v.GenericSchema>(schema: Schema, bytes: Uint8Array): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, decode(bytes));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Failure('INVALID', `not a tally: ${v.getDotPath(issue) ?? 'the record'}: ${issue.message}`);
}
