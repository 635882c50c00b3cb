/**
 * The one error of this project. Adapters translate everything foreign into it and keep the `cause`;
 * whoever decides reads `code`, never the text.
 */
export const FAILURE_CODES = [
  'NETWORK', // the other side could not be reached, or went away
  'TIMEOUT', // no answer within the limit
  'INTERNAL', // a fault of ours, or one nobody foresaw
  'PROXY', // the egress is at fault, not the target
  'BLOCKED', // this egress is not welcome at the target; another one may be
  'TARGET', // the target answered that it is in trouble itself
  'THROTTLED', // told to slow down; blames nobody
  'NO_EGRESS', // no way out is free; blames nobody
  'REJECTED', // refused for good: asking again changes nothing
  'INVALID', // the input is wrong
  'CANCELLED', // stopped on purpose
  'CONFLICT', // somebody else got there first (compare-and-set, lock, id)
  'UNAVAILABLE', // NATS itself is not there
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

const KNOWN: ReadonlySet<unknown> = new Set(FAILURE_CODES);

/** For codes that came from elsewhere: another process, or another copy of this code. */
export function isFailureCode(code: unknown): code is FailureCode {
  return KNOWN.has(code);
}

export interface FailureOptions {
  readonly cause?: unknown;
  readonly hint?: string | undefined;
  readonly retryAtMs?: number | undefined;
  readonly proxy?: string | undefined;
}

export class Failure extends Error {
  readonly code: FailureCode;
  /** What the reader can do about it, as a sentence; printed under the message by the CLI. */
  readonly hint: string | undefined;
  /** Before this time another try is known to be useless (epoch ms). */
  readonly retryAtMs: number | undefined;
  /** The id of the proxy that was used. */
  readonly proxy: string | undefined;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.hint = options.hint;
    this.retryAtMs = options.retryAtMs;
    this.proxy = options.proxy;
  }
}

/** Anything thrown, as a Failure; what is not one already is a fault nobody foresaw. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('INTERNAL', messageOf(error), { cause: error });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
