/** Pages that stop being friendly: throttles, bans, captchas. */
import { renderPage } from '../html.ts';
import { readCookie, SESSION_COOKIE } from '../sessions.ts';
import type { Turnstiles } from '../turnstile.ts';
import { readNumber, sendHtml, type Pages, type Visit } from '../visit.ts';

const COUNT_MAX = 1e6;
const SECONDS_MAX = 86_400;

export function wallPages(turnstiles: Turnstiles): Pages {
  /** Milliseconds for which the visitor is kept out; `key` keeps one test's visits apart from another's. */
  const judge = (visit: Visit, who: string, limits: { after: number; seconds: number }): number => {
    const { pathname, searchParams } = new URL(visit.request.url ?? '/', 'http://site');
    return turnstiles.pass(
      `${pathname} ${searchParams.get('key') ?? ''} ${who}`,
      { after: limits.after, closedMs: limits.seconds * 1000 },
      visit.nowMs,
    );
  };
  const count = (visit: Visit, fallback: number): number =>
    readNumber(visit, 'after', { fallback, max: COUNT_MAX });

  return {
    throttle(visit) {
      const seconds = readNumber(visit, 'retry', { fallback: 2, max: SECONDS_MAX });
      const leftMs = judge(visit, visit.ip, { after: count(visit, 5), seconds });
      if (leftMs === 0) {
        sendFine(visit);
        return;
      }
      setRetryAfter(visit, Math.ceil(leftMs / 1000));
      sendWall(visit, 429, 'Too many requests');
    },
    busy(visit) {
      const times = readNumber(visit, 'times', { fallback: Infinity, max: Infinity });
      if (turnstiles.count(`busy ${visit.query.get('key') ?? ''} ${visit.ip}`) > times) {
        sendFine(visit);
        return;
      }
      const seconds = readNumber(visit, 'retry', { fallback: 0, max: SECONDS_MAX });
      if (seconds > 0) setRetryAfter(visit, Math.ceil(seconds));
      sendWall(visit, 503, 'Down for maintenance');
    },
    ban(visit) {
      const seconds = readNumber(visit, 'for', { fallback: Infinity, max: Infinity });
      const leftMs = judge(visit, bannedOf(visit), { after: count(visit, 10), seconds });
      if (leftMs === 0) sendFine(visit);
      else sendWall(visit, 403, 'You have been banned');
    },
    captcha(visit) {
      const seconds = readNumber(visit, 'for', { fallback: Infinity, max: Infinity });
      if (judge(visit, visit.ip, { after: count(visit, 0), seconds }) === 0) {
        sendFine(visit);
        return;
      }
      const status = readNumber(visit, 'status', { fallback: 200, min: 200, max: 599 });
      sendWall(
        visit,
        status,
        'Are you a robot?',
        '<div id="captcha" class="g-recaptcha" data-sitekey="demo"></div>',
      );
    },
  };
}

function bannedOf({ query, request, ip }: Visit): string {
  switch (query.get('by')) {
    case 'session':
      return readCookie(request.headers.cookie, SESSION_COOKIE) ?? 'no session';
    case 'agent':
      return request.headers['user-agent'] ?? 'no agent';
    default:
      return ip;
  }
}

function setRetryAfter({ query, response }: Visit, seconds: number): void {
  const date = new Date(Date.now() + seconds * 1000).toUTCString();
  response.setHeader('retry-after', query.get('as') === 'date' ? date : String(seconds));
}

function sendFine(visit: Visit): void {
  sendHtml(visit, renderPage({ title: 'Fine', body: '<p class="fine">Welcome.' }));
}

function sendWall(visit: Visit, status: number, title: string, body = ''): void {
  sendHtml(visit, renderPage({ title, body: `<h1>${title}</h1>${body}` }), status);
}
