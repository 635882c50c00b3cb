/** What went wrong with a page, by the codes of the browser's network. */
import { messageOf, type FailureCode } from '../domain/failure.ts';
import { HttpFailure } from '../http/http-failure.ts';

const CODES: Readonly<Record<string, FailureCode>> = {
  ERR_TIMED_OUT: 'TIMEOUT',
  ERR_CONNECTION_TIMED_OUT: 'TIMEOUT',
  ERR_UNSAFE_PORT: 'INVALID',
  ERR_INVALID_URL: 'INVALID',
  ERR_INVALID_HTTP_RESPONSE: 'INVALID',
  ERR_INVALID_CHUNKED_ENCODING: 'INVALID',
  ERR_CONTENT_DECODING_FAILED: 'INVALID',
  ERR_RESPONSE_HEADERS_TOO_BIG: 'INVALID',
  ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH: 'INVALID',
};
/** Said before anything is sent. */
const UNSENT: ReadonlySet<string> = new Set(['ERR_UNSAFE_PORT', 'ERR_INVALID_URL']);
const CERTIFICATE = /^ERR_(?:CERT|SSL)_/;
const CERTIFICATE_HINT =
  'Its certificate is not valid for this name, expired, or signed by somebody unknown.';

/** The code of the browser's network, such as ERR_CONNECTION_RESET; empty: it was something else. */
export function networkCodeOf(error: unknown): string {
  return /\bnet::(ERR_[A-Z0-9_]+)/.exec(messageOf(error))?.[1] ?? '';
}

export function failureOfPage(error: unknown, host: string): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const word = networkCodeOf(error);
  if (word === '') {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const [first = ''] = messageOf(error).split('\n');
    return isLate
      ? new HttpFailure('TIMEOUT', `${host}: the page was not ready in time`, { cause: error, sent: true })
      : new HttpFailure('INTERNAL', `${host}: the browser failed: ${first}`, { cause: error, sent: true });
  }
  return new HttpFailure(CODES[word] ?? 'NETWORK', `${host}: ${word}`, {
    cause: error,
    hint: CERTIFICATE.test(word) ? CERTIFICATE_HINT : undefined,
    sent: !UNSENT.has(word),
  });
}
