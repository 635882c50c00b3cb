/** What went wrong with one request, by where it happened and by error codes, never by the words of a message. */
import { errors } from 'undici';
import { Failure, messageOf, type FailureCode, type FailureOptions } from '../domain/failure.ts';

export class HttpFailure extends Failure {
  /** The target may have seen the request. */
  readonly sent: boolean;
  /** What a proxy answered instead of opening the way to the target. */
  readonly status: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: FailureOptions & { readonly sent: boolean; readonly status?: number | undefined },
  ) {
    super(code, message, options);
    this.sent = options.sent;
    this.status = options.status;
  }
}

/** What undici and Node call it; everything else that breaks a connection is NETWORK. */
const CODES: Readonly<Record<string, FailureCode>> = {
  UND_ERR_HEADERS_TIMEOUT: 'TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'TIMEOUT',
  UND_ERR_HEADERS_OVERFLOW: 'INVALID',
  UND_ERR_INVALID_ARG: 'INVALID',
  UND_ERR_NOT_SUPPORTED: 'INVALID',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'INVALID',
  UND_ERR_DESTROYED: 'CANCELLED',
  UND_ERR_CLOSED: 'CANCELLED',
  ERR_ASSERTION: 'INTERNAL',
};

export function asHttpFailure(error: unknown, about: { readonly host: string; sent: boolean }): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const word = codeOf(error);
  const code = error instanceof errors.HTTPParserError ? parserFault(error) : (CODES[word] ?? 'NETWORK');
  const what = code === 'TIMEOUT' ? 'did not answer in time' : describe(error, word);
  return new HttpFailure(code, `${about.host}: ${what}`, { cause: error, sent: about.sent });
}

/** The parser holds what it could not read. Nothing: the answer ended before it was complete. */
function parserFault(error: InstanceType<typeof errors.HTTPParserError>): FailureCode {
  return 'data' in error && error.data !== '' ? 'INVALID' : 'NETWORK';
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** The message of a foreign error with its code, which often says more. */
export function describe(error: unknown, code = codeOf(error)): string {
  const message = messageOf(error);
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
