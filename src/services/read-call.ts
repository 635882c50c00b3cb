/** The body of a call: one task as `submit` takes it, and how it is to be answered. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { isRunId } from '../domain/run-id.ts';
import type { TaskSpec } from '../domain/task.ts';
import { STRATEGIES, type Strategy } from '../policy/route-call.ts';
import { encodeJson } from '../wire/codec.ts';
import { SUBMISSION_LIMITS } from '../wire/submission-fields.ts';
import { parseSubmission } from '../wire/submission.ts';
import { readRequest } from './read-request.ts';

export interface CallRequest {
  readonly spec: TaskSpec;
  readonly strategy: Strategy;
  readonly timeoutMs: number;
}

/** No run has tasks of calls; handlers and logs see this name. */
export const CALL_RUN = 'call';
const TIMEOUT_MS = 60_000;
const TIMEOUT_MAX_MS = 3_600_000;

const envelope = v.looseObject({
  scraper: v.pipe(v.string(), v.check(isRunId, 'must be 1 to 64 letters, digits, _ or -')),
  strategy: v.optional(v.picklist(STRATEGIES), 'least_loaded'),
  timeoutMs: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(TIMEOUT_MAX_MS)),
    TIMEOUT_MS,
  ),
});

export function readCall(body: unknown, now: number): CallRequest {
  const { scraper, strategy, timeoutMs, ...task } = readRequest(envelope, body);
  const { requests, problems } = parseSubmission({
    subject: { scraper, run: CALL_RUN },
    headers: () => undefined,
    data: encodeJson([task]),
    now,
    limits: SUBMISSION_LIMITS,
  });
  const [request] = requests;
  if (!request) throw new Failure('INVALID', problems[0]?.reason ?? 'a call needs a url, a key or an input');
  return { spec: { ...request, run: CALL_RUN, createdAt: now }, strategy, timeoutMs };
}
