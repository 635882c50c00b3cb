/** Sessions, for people: listed, brought along from elsewhere, retired. No answer holds a cookie or a header. */
import * as v from 'valibot';
import { randomUUID } from 'node:crypto';
import { SESSION_STATES } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import { Secret } from '../domain/secret.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { SessionRecord } from '../policy/egress/records.ts';
import { parseHost } from '../wire/host-key.ts';
import { TOKEN } from '../wire/names.ts';
import { readCookies } from './cookie-jar.ts';
import { page, pageRequest } from './page.ts';
import type { EgressAccess } from './proxies.ts';
import { readRequest } from './read-request.ts';

const IMPORT_MAX = 1_000;
const NAMES_MAX = 10_000;

const token = v.pipe(v.string(), v.regex(TOKEN, 'must be 1 to 64 letters, digits, _ or -'));
const idRequest = v.object({ id: v.string() });
const removeRequest = v.object({ ids: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(NAMES_MAX)) });
const listRequest = v.object({
  ...pageRequest.entries,
  state: v.optional(v.picklist(SESSION_STATES)),
  host: v.optional(v.string()),
});
const session = v.object({
  id: v.optional(token),
  host: v.string(),
  scraper: token,
  egress: token,
  userAgent: v.pipe(v.string(), v.minLength(1)),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  cookies: v.optional(v.unknown(), []),
  validUntil: v.optional(
    v.union([v.number(), v.pipe(v.string(), v.isoTimestamp(), v.transform(Date.parse))]),
  ),
});
const importRequest = v.object({
  sessions: v.pipe(v.array(session), v.minLength(1), v.maxLength(IMPORT_MAX)),
});

export function createSessionServices({ change, look }: EgressAccess): Record<string, Verb> {
  return {
    'sessions.ls': (body) => {
      const { state, host, ...where } = readRequest(listRequest, body);
      const wantedHost = host === undefined ? undefined : parseHost(host);
      const found = look((book) =>
        page(book.sessions(), where, ({ id }) => id)
          .filter((view) => state === undefined || view.state === state)
          .filter((view) => wantedHost === undefined || view.host === wantedHost),
      );
      return { sessions: found.items, ...found.rest };
    },
    'sessions.show': (body) => {
      const { id } = readRequest(idRequest, body);
      const found = look((book) => book.session(id));
      if (!found) throw unknown([id]);
      return found;
    },
    'sessions.rm': async (body) => {
      const { ids } = readRequest(removeRequest, body);
      return change((book, now) => {
        const changed = ids.filter((id) => book.retireSession(id, now));
        const missing = ids.filter((id) => !changed.includes(id));
        if (changed.length === 0) throw unknown(missing);
        return { changed, unknown: missing };
      });
    },
    'sessions.import': async (body) => {
      const wanted = readRequest(importRequest, body).sessions;
      return change((book, now) => {
        const records = wanted.map((each) => recordOf(each, now));
        for (const record of records) book.putSession(record, now);
        return { sessions: records.map(({ id }) => id) };
      });
    },
  };
}

function recordOf(wanted: v.InferOutput<typeof session>, now: number): SessionRecord {
  return {
    type: 'session',
    id: wanted.id ?? randomUUID(),
    host: parseHost(wanted.host),
    scraper: wanted.scraper,
    egress: wanted.egress,
    // Somebody has logged in: it is used as it is.
    state: 'valid',
    userAgent: wanted.userAgent,
    headers: wanted.headers,
    cookies: new Secret(readCookies(wanted.cookies)),
    uses: 0,
    errors: 0,
    createdAt: now,
    // Idle from now on, not since ever.
    usedAt: now,
    validUntil: wanted.validUntil,
  };
}

function unknown(missing: readonly string[]): Failure {
  return new Failure('INVALID', `there is no session ${missing.slice(0, 5).join(', ')}`, {
    hint: '`trawl sessions ls` shows all of them.',
  });
}
