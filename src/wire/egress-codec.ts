/** Questions of workers about egress, read with care: one that is malformed must not reach the book of the leader. */
import * as v from 'valibot';
import { SELECTIONS, USE_OUTCOMES, VIAS } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import { decode } from './codec.ts';
import type { AcquireRequest, EgressReport } from './egress.ts';
import { isHostKey } from './host-key.ts';
import { amount, headers, limits } from './record-fields.ts';

/** What one message may ask for or tell; a worker that has more sends another. */
export const WANTS_MAX = 1_000;
const USES_MAX = 20_000;
const NAMES_MAX = 20_000;
const TIMES_MAX = 1_000_000;

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(300));
const host = v.pipe(v.string(), v.check(isHostKey, 'not the key of a host'));
const time = v.pipe(v.number(), v.finite(), v.minValue(0));
const text = v.string();
const names = v.pipe(v.array(name), v.maxLength(NAMES_MAX));

const want = v.object({
  host,
  scraper: name,
  count: v.pipe(amount, v.maxValue(1_000_000)),
  slots: v.pipe(amount, v.maxValue(1_000_000)),
  via: v.picklist(VIAS),
  select: v.picklist(SELECTIONS),
  exclusive: v.boolean(),
  tried: names,
  only: v.optional(name),
  stickTo: v.optional(v.string()),
  session: v.optional(v.union([v.literal('any'), v.object({ id: name })])),
  limits: v.optional(limits),
  robots: v.optional(v.union([v.number(), v.literal('ignored')])),
});

const acquire = v.object({
  worker: name,
  machine: v.string(),
  wants: v.pipe(v.array(want), v.maxLength(WANTS_MAX)),
});

const use = v.object({
  lease: name,
  n: amount,
  times: v.optional(v.pipe(amount, v.minValue(1), v.maxValue(TIMES_MAX))),
  outcome: v.picklist(USE_OUTCOMES),
  startedAgoMs: time,
  ms: time,
  status: v.optional(amount),
  retryAfterMs: v.optional(time),
});

const report = v.object({
  worker: name,
  uses: v.pipe(v.array(use), v.maxLength(USES_MAX)),
  started: v.optional(
    v.pipe(v.array(v.object({ lease: name, count: amount, latestAgoMs: time })), v.maxLength(NAMES_MAX)),
  ),
  done: names,
  renew: names,
  sessions: v.pipe(
    v.array(
      v.object({
        id: name,
        verdict: v.picklist(['ok', 'error', 'invalid', 'retire']),
        cookies: v.optional(text),
        headers: v.optional(headers),
        userAgent: v.optional(text),
        validUntil: v.optional(time),
      }),
    ),
    v.maxLength(NAMES_MAX),
  ),
  robots: v.array(v.object({ host, text: v.optional(text), crawlDelayMs: v.optional(time), keepMs: time })),
});

export function decodeAcquire(bytes: Uint8Array): AcquireRequest {
  return read(acquire, bytes);
}

export function decodeReport(bytes: Uint8Array): EgressReport {
  return read(report, bytes);
}

function read<Schema extends v.GenericSchema>(schema: Schema, bytes: Uint8Array): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, decode(bytes));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Failure('INVALID', `${v.getDotPath(issue) ?? 'the message'}: ${issue.message}`);
}
