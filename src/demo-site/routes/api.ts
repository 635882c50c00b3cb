/** The JSON API: a market with cursor pages, people with offset pages, and what is true about each product. */
import { listItems } from '../items.ts';
import { findProfile, listFollowers, listStories, type Profile } from '../people.ts';
import type { Products } from '../products.ts';
import { readCookie, SESSION_COOKIE, type Sessions } from '../sessions.ts';
import { findSignatureProblem } from '../signature.ts';
import { readBody, readNumber, sendJson, type Page, type Pages, type Visit } from '../visit.ts';

const LIMIT_MAX = 100;

export function apiPages(products: Products, sessions: Sessions): Pages {
  const { seed } = products;
  const ofPerson =
    (tell: (visit: Visit, profile: Profile) => unknown) =>
    (visit: Visit, id: string): void => {
      const profile = findProfile(seed, id);
      if (profile) sendJson(visit, tell(visit, profile));
      else sendJson(visit, { error: `nobody is called ${id}` }, 404);
    };
  const stories = ofPerson((_, profile) => {
    const found = listStories(seed, profile);
    return { id: profile.id, has_story: found.length > 0, stories: found };
  });
  const followers = ofPerson((visit, profile) => {
    const limit = Math.floor(readNumber(visit, 'limit', { fallback: 50, min: 1, max: LIMIT_MAX }));
    const offset = Math.floor(readNumber(visit, 'offset', { fallback: 0, max: 1e9 }));
    const found = listFollowers(seed, profile, { offset, limit });
    const next = offset + found.length;
    return {
      id: profile.id,
      total: profile.followers,
      offset,
      followers: found,
      next_offset: next < profile.followers && found.length > 0 ? next : null,
    };
  });
  const profile = ofPerson((_, found) => found);

  const answers: Readonly<Record<string, (visit: Visit, id: string) => void | Promise<void>>> = {
    items: (visit) => sendItems(visit, seed),
    async signed(visit, kind) {
      const problem = kind === 'items' ? await checkSignature(visit) : undefined;
      if (problem !== undefined) sendJson(visit, { error: problem }, 401);
      else if (kind === 'items') sendItems(visit, seed);
      else sendJson(visit, { error: 'no such list' }, 404);
    },
    profile,
    followers,
    stories,
    session(visit, path) {
      const token = readCookie(visit.request.headers.cookie, SESSION_COOKIE);
      if (!sessions.use(token, visit.ip)) {
        sendJson(visit, { error: 'log in first' }, 401);
        return;
      }
      const [kind, id = ''] = path.split('/');
      if (kind === 'stories') stories(visit, id);
      else sendJson(visit, { error: 'no such list' }, 404);
    },
    product(visit, id) {
      const found = products.find(Number(id));
      sendJson(visit, found ?? { error: `no product ${id}` }, found ? 200 : 404);
    },
  };

  const api: Page = (visit) => {
    const [kind = '', ...rest] = visit.rest.split('/');
    const answer = Object.hasOwn(answers, kind) ? answers[kind] : undefined;
    if (answer) return answer(visit, rest.join('/'));
    sendJson(visit, { error: 'no such list' }, 404);
  };
  return { api };
}

function sendItems(visit: Visit, seed: number): void {
  const page = listItems(seed, {
    game: visit.query.get('game') ?? '',
    cursor: visit.query.get('cursor') ?? '',
    limit: Math.floor(readNumber(visit, 'limit', { fallback: LIMIT_MAX, min: 1, max: LIMIT_MAX })),
  });
  if (page) sendJson(visit, page);
  else sendJson(visit, { error: 'no such game, or a cursor of another list' }, 400);
}

async function checkSignature(visit: Visit): Promise<string | undefined> {
  const { headers, method = 'GET', url = '/' } = visit.request;
  const body = await readBody(visit);
  if (!body) return 'the body is too long';
  const text = (name: string): string | undefined => headers[name]?.toString();
  return findSignatureProblem(
    { key: text('x-api-key'), date: text('x-sign-date'), signature: text('x-request-sign') },
    { method, path: url, body },
    Date.now(),
  );
}
