/** A session in the `egress` bucket: JSON for people, with its cookies and headers sealed, because both may let people in. */
import * as v from 'valibot';
import { SESSION_STATES, type Session } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import { Secret } from '../domain/secret.ts';
import { encodeJson } from './codec.ts';
import { keys } from './names.ts';
import { amount, headers, name, readRecord, time } from './record-fields.ts';
import type { Seal } from './sealed.ts';

const stored = v.object({
  type: v.literal('session'),
  id: name,
  host: name,
  scraper: v.string(),
  egress: name,
  state: v.picklist(SESSION_STATES),
  userAgent: v.string(),
  headers: v.string(),
  cookies: v.string(),
  uses: amount,
  errors: amount,
  createdAt: time,
  usedAt: time,
  validUntil: v.optional(time),
});

export type SessionFields = Session & { readonly type: 'session' };

export function encodeSession(session: SessionFields, seal: Seal): Uint8Array {
  const about = keys.session(session.id);
  return encodeJson({
    ...session,
    headers: seal.seal(JSON.stringify(session.headers), about),
    cookies: seal.seal(session.cookies.reveal(), about),
  });
}

export function decodeSession(bytes: Uint8Array, seal: Seal): SessionFields {
  const session = readRecord(stored, bytes);
  const about = keys.session(session.id);
  const read = v.safeParse(headers, JSON.parse(seal.open(session.headers, about)));
  if (!read.success) throw new Failure('INVALID', `the headers of ${about} cannot be read`);
  return { ...session, headers: read.output, cookies: new Secret(seal.open(session.cookies, about)) };
}
