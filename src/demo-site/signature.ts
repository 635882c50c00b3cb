/** How requests to the signed part of the API prove who sent them: an HMAC over what is asked and when. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const API_KEY = 'demo-key';
export const API_SECRET = 'demo-secret';

/** How far the client's clock may be off. */
const SKEW_MAX_S = 120;

export interface Signed {
  readonly method: string;
  readonly path: string; // with the query
  readonly body?: string | Buffer;
  readonly date: string; // epoch seconds, as text
}

export function signRequest({ method, path, body = '', date }: Signed, secret: string = API_SECRET): string {
  return createHmac('sha256', secret).update(`${method}${path}`).update(body).update(date).digest('hex');
}

/** Undefined when the signature is good; otherwise what is wrong with it. */
export function findSignatureProblem(
  { key, date, signature }: Readonly<Record<'key' | 'date' | 'signature', string | undefined>>,
  about: Omit<Signed, 'date'>,
  nowEpochMs: number,
): string | undefined {
  if (key !== API_KEY) return 'unknown key';
  if (date === undefined || !/^\d{1,12}$/.test(date)) return 'no date';
  if (Math.abs(nowEpochMs / 1000 - Number(date)) > SKEW_MAX_S) return 'date is not now';
  const expected = Buffer.from(signRequest({ ...about, date }));
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected) ? undefined : 'bad signature';
}
