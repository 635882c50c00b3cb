/** A ledger record as JSON for people: one level, times as text, bytes as text where they are text. */
import { isUtf8 } from 'node:buffer';
import type { Fault, LedgerRecord } from '../domain/task.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type RecordView = Readonly<Record<string, Json>>;

// What could not be read as a task may be a link with a password in it.
const CREDENTIALS = /\/\/[^/@\s"']+@/g;

export function describeRecord(record: LedgerRecord): RecordView {
  const { spec } = record;
  const { createdAt, notBefore, input, intake, ...identity } = spec;
  return {
    state: record.state,
    ...identity,
    ...(input && { input: toJson(input) }),
    createdAt: time(createdAt),
    ...(notBefore !== undefined && { notBefore: time(notBefore) }),
    at: time(record.at),
    faults: record.faults.map(describeFault),
    ...(record.state === 'queued' && intake !== undefined && { intake }),
    ...describeEnd(record),
  };
}

function describeEnd(record: LedgerRecord): RecordView {
  switch (record.state) {
    case 'queued':
      return {};
    case 'done':
      return { worker: record.worker, startedAt: time(record.startedAt), result: toJson(record.result) };
    case 'dead':
      return { error: { ...record.error }, ...(record.original && describeOriginal(record.original)) };
    case 'cancelled':
      return { reason: record.reason };
  }
}

function describeFault(fault: Fault): Json {
  return { ...fault, at: time(fault.at) };
}

function describeOriginal(original: Uint8Array): RecordView {
  if (!isUtf8(original)) return { originalBase64: base64(original) };
  return { original: Buffer.from(original).toString().replace(CREDENTIALS, '//***@') };
}

/** What a scraper stored may hold things that JSON has not: bytes become base64, the rest what JSON makes of it. */
function toJson(value: unknown): Json {
  if (value instanceof Uint8Array) return base64(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return Object.fromEntries(fields.map(([name, field]) => [name, toJson(field)]));
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function time(epochMs: number): string {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? `${epochMs} ms` : date.toISOString();
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
