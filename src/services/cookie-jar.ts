/** Cookies that a person brings along, as the jar of a session: such a jar itself, or the list that a browser exports. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';

const jar = v.looseObject({ cookies: v.array(v.looseObject({ key: v.string(), value: v.string() })) });
const exported = v.array(
  v.looseObject({
    name: v.string(),
    value: v.string(),
    domain: v.string(),
    path: v.optional(v.string(), '/'),
    secure: v.optional(v.boolean(), false),
    httpOnly: v.optional(v.boolean(), false),
    hostOnly: v.optional(v.boolean()),
    expirationDate: v.optional(v.number()), // epoch seconds
    expires: v.optional(v.number()), // epoch seconds; -1: with the session
  }),
);

/** JSON text. Throws `INVALID`, and repeats nothing of what it was given. */
export function readCookies(given: unknown): string {
  const own = v.safeParse(jar, given);
  if (own.success) return JSON.stringify(own.output);
  const list = v.safeParse(exported, given);
  if (list.success) return JSON.stringify({ ...EMPTY, cookies: list.output.map(cookieOf) });
  throw new Failure('INVALID', 'the cookies of a session are not in a form that is known', {
    hint: 'Give the jar of tough-cookie, or the list that a browser exports: [{"name", "value", "domain", "path"}].',
  });
}

const EMPTY = { version: 'tough-cookie', storeType: 'MemoryCookieStore', rejectPublicSuffixes: true };

function cookieOf(cookie: v.InferOutput<typeof exported>[number]): object {
  const { name, value, domain, path, secure, httpOnly, hostOnly } = cookie;
  const seconds = cookie.expirationDate ?? cookie.expires;
  return {
    key: name,
    value,
    domain: domain.replace(/^\./, ''),
    path,
    secure,
    httpOnly,
    hostOnly: hostOnly ?? !domain.startsWith('.'),
    ...(seconds !== undefined && seconds > 0 && { expires: new Date(seconds * 1_000).toISOString() }),
  };
}
