/**
 * What an answer means: for the egress it came through (`outcome`), and for the task (`code`, absent for an answer that
 * a handler can use). Rules of the scraper go first, because a captcha may come with any status.
 */
import type { UseOutcome } from '../domain/egress.ts';
import type { FailureCode } from '../domain/failure.ts';
import type { CompiledRule } from './block-rules.ts';
import { decodeText } from './decode-text.ts';
import { parseRetryAfter } from './retry-after.ts';

export interface AnswerFacts {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface AnswerVerdict {
  readonly outcome: UseOutcome;
  readonly code?: FailureCode | undefined;
  /** In words that fit into "HOST answered with …". */
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
}

/** Of a page, patterns see so much. */
export const BODY_SEEN_BYTES = 64 * 1024;

export function classifyAnswer(
  answer: AnswerFacts,
  rules: readonly CompiledRule[],
  now: number,
): AnswerVerdict {
  const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], now);
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  const rule = rules.length === 0 ? undefined : findRule(answer, rules);
  if (rule) {
    const code = rule.outcome === 'blocked' ? 'BLOCKED' : 'THROTTLED';
    const reason = `status ${answer.status} and a page that block rule ${rule.number} knows`;
    return { outcome: rule.outcome, code, reason, ...asked };
  }
  return {
    ...byStatus(answer.status, retryAfterMs !== undefined),
    reason: `status ${answer.status}`,
    ...asked,
  };
}

/** What a request that got no answer means for its egress. `sent`: the target may have seen it. */
export function outcomeOfFailure(failure: {
  readonly code: FailureCode;
  readonly sent: boolean;
}): UseOutcome {
  switch (failure.code) {
    case 'PROXY':
      return 'proxy';
    case 'NETWORK':
      return 'network';
    case 'TIMEOUT':
      return 'timeout';
    case 'INVALID':
      return failure.sent ? 'target' : 'unsent'; // an answer nobody can read, or a request nobody can send
    default:
      // Too large, or stopped by us: the target saw it, so it counts, and nobody is to blame.
      return failure.sent ? 'ok' : 'unsent';
  }
}

function byStatus(status: number, saysWhen: boolean): { outcome: UseOutcome; code?: FailureCode } {
  if (status < 400) return { outcome: 'ok' };
  switch (status) {
    case 401:
    case 403:
      return { outcome: 'blocked', code: 'BLOCKED' };
    case 429:
      return { outcome: 'throttled', code: 'THROTTLED' };
    case 503:
      if (saysWhen) return { outcome: 'throttled', code: 'THROTTLED' };
      return { outcome: 'target', code: 'TARGET' };
    // Requests travel through a tunnel, so this 407 is the target's own word: it must not cost the proxy its place.
    case 407:
    case 408:
    case 425:
      return { outcome: 'target', code: 'TARGET' };
    default:
      if (status >= 500) return { outcome: 'target', code: 'TARGET' };
      return { outcome: 'ok', code: 'REJECTED' };
  }
}

function findRule(answer: AnswerFacts, rules: readonly CompiledRule[]): CompiledRule | undefined {
  let text: string | undefined;
  const seen = (): string =>
    (text ??= decodeText(answer.body.subarray(0, BODY_SEEN_BYTES), answer.headers['content-type']));
  return rules.find((rule) => {
    if (rule.statuses && !rule.statuses.has(answer.status)) return false;
    if (rule.headerName !== undefined) {
      const value = answer.headers[rule.headerName];
      if (value === undefined || (rule.header && !rule.header.test(value))) return false;
    }
    return !rule.body || rule.body.test(seen());
  });
}
