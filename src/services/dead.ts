/** Dead letters: find them, count them by what killed them, put them back, or let them go. */
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import type { LedgerRecord } from '../domain/task.ts';
import type { DeadEntry, LedgerReader, LedgerWriter } from '../nats/ledger.ts';
import type { Verb } from '../nats/mailbox.ts';
import { mayReopen } from '../policy/run-reopen.ts';
import type { RunRecord } from '../wire/run-record.ts';
import { describeRecord } from '../wire/describe-record.ts';
import { readRequest } from './read-request.ts';
import type { Redrive } from './redrive.ts';

export interface DeadPorts {
  readonly reader: LedgerReader;
  readonly writer: LedgerWriter;
  readonly redrive: Pick<Redrive, 'putBack'>;
  readonly findRun: (id: string) => Promise<RunRecord | undefined>;
  readonly now: () => number;
}

const filter = {
  run: v.optional(v.string()),
  scraper: v.optional(v.string()),
  id: v.optional(v.string()),
  code: v.optional(v.string()),
  /** How old at most. */
  sinceMs: v.optional(v.pipe(v.number(), v.minValue(0))),
};
const listRequest = v.object({ ...filter, limit: v.optional(v.pipe(v.number(), v.minValue(0)), 100) });
const changeRequest = v.object({
  ...filter,
  limit: v.optional(v.pipe(v.number(), v.minValue(1))),
  dryRun: v.optional(v.boolean(), false),
  perSecond: v.optional(v.pipe(v.number(), v.minValue(1)), 1_000),
});
type ChangeRequest = v.InferOutput<typeof changeRequest>;
type Filter = Pick<ChangeRequest, 'run' | 'scraper' | 'id' | 'code' | 'sinceMs'>;
type Dead = Extract<LedgerRecord, { state: 'dead' }>;

/** Put back or let go in one step: small enough to keep to the rate, large enough to travel in one batch. */
const STEP = 200;
const SHOWN_MAX = 1_000;

export function createDeadServices({
  reader,
  writer,
  redrive,
  findRun,
  now,
}: DeadPorts): Record<string, Verb> {
  return {
    'dead.list': list,
    'dead.retry': async (body) => {
      const request = readRequest(changeRequest, body);
      return change(request, await retryable(await find(request)), (found) => redrive.putBack(found));
    },
    'dead.drop': async (body) => {
      const request = readRequest(changeRequest, body);
      return change(request, await find(request), letGo);
    },
  };

  async function list(body: unknown): Promise<object> {
    const request = readRequest(listRequest, body);
    const entries = await find(request);
    const shown = entries.slice(0, Math.min(request.limit, SHOWN_MAX));
    const records = await readAll(shown);
    return {
      count: entries.length,
      groups: groupByError(entries),
      tasks: shown.map((entry) => ({
        ...entry,
        ...describeIf(records.get(`${entry.run} ${entry.id}`)?.record),
      })),
    };
  }

  async function find({ run, scraper, id, code, sinceMs }: Filter): Promise<DeadEntry[]> {
    const since = sinceMs === undefined ? 0 : now() - sinceMs;
    const entries = await reader.listDead(run);
    return entries
      .filter((entry) => scraper === undefined || entry.scraper === scraper)
      .filter((entry) => id === undefined || entry.id === id)
      .filter((entry) => code === undefined || entry.code === code)
      .filter((entry) => entry.at >= since)
      .sort((a, b) => b.at - a.at);
  }

  type Step = (found: readonly { seq: number; record: Dead }[]) => Promise<number>;

  /** Without what is no task, and what belongs to a run that is being cancelled. */
  async function retryable(entries: readonly DeadEntry[]): Promise<DeadEntry[]> {
    const readable = entries.filter(({ unreadable }) => unreadable !== true);
    const closed = new Set<string>();
    for (const id of new Set(readable.map(({ run }) => run))) {
      const run = await findRun(id);
      if (run && !mayReopen(run)) closed.add(id);
    }
    return readable.filter(({ run }) => !closed.has(run));
  }

  async function change(request: ChangeRequest, found: readonly DeadEntry[], step: Step): Promise<object> {
    const matched = found.slice(0, request.limit);
    if (request.dryRun) return { matched: matched.length, changed: 0, groups: groupByError(matched) };
    let changed = 0;
    for (let at = 0; at < matched.length; at += STEP) {
      const began = now();
      const some = matched.slice(at, at + STEP);
      const records = await readAll(some);
      const dead = [...records.values()].flatMap(({ seq, record }) =>
        record.state === 'dead' ? [{ seq, record }] : [],
      );
      changed += await step(dead);
      const paceMs = (some.length / request.perSecond) * 1_000 - (now() - began);
      if (paceMs > 0 && at + STEP < matched.length) await delay(paceMs);
    }
    return { matched: matched.length, changed };
  }

  /** A task that nobody wants any more ends as cancelled: it stays counted, and known. */
  async function letGo(found: readonly { seq: number; record: Dead }[]): Promise<number> {
    const outcomes = await Promise.all(
      found.map(({ seq, record }) => writer.drop({ ...pick(record), reason: 'dropped' }, seq)),
    );
    return outcomes.filter(({ kind }) => kind === 'stored').length;
  }

  async function readAll(
    entries: readonly DeadEntry[],
  ): Promise<Map<string, { seq: number; record: LedgerRecord }>> {
    const found = new Map<string, { seq: number; record: LedgerRecord }>();
    for (const run of new Set(entries.map((entry) => entry.run))) {
      const ids = entries.filter((entry) => entry.run === run).map(({ id }) => id);
      for (const [id, stored] of await reader.readMany(run, ids)) found.set(`${run} ${id}`, stored);
    }
    return found;
  }

  function pick({ spec, faults }: Dead): {
    state: 'cancelled';
    spec: Dead['spec'];
    faults: Dead['faults'];
    at: number;
  } {
    return { state: 'cancelled', spec, faults, at: now() };
  }
}

function describeIf(record: LedgerRecord | undefined): object {
  return record ? { task: describeRecord(record) } : {};
}

function groupByError(entries: readonly DeadEntry[]): { code: string; message: string; count: number }[] {
  const groups = new Map<string, { code: string; message: string; count: number }>();
  for (const { code, message } of entries) {
    const group = groups.get(code) ?? { code, message, count: 0 };
    groups.set(code, { ...group, count: group.count + 1 });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
