/** Logging in, and what only those see who did. */
import { renderPage, escapeHtml } from '../html.ts';
import { readCookie, SESSION_COOKIE, type Sessions, type SiteSession } from '../sessions.ts';
import { readBody, sendHtml, sendJson, sendRedirect, type Pages, type Visit } from '../visit.ts';

export const USER = 'demo';
export const PASSWORD = 'demo';
const CSRF = 'c5rf';

const FORM = `<h1>Log in</h1>
<form method="post" action="/login"><input type=hidden name=csrf value="${CSRF}">
<label>Name <input name=user></label><label>Password <input name=password type=password></label>
<label>Log me out after <input name=uses> pages</label><button>Log in</button></form>`;

export function accountPages(sessions: Sessions): Pages {
  return {
    async login(visit) {
      if (visit.request.method !== 'POST') {
        sendHtml(visit, renderPage({ title: 'Log in', body: FORM }));
        return;
      }
      const form = new URLSearchParams((await readBody(visit))?.toString());
      const good =
        form.get('csrf') === CSRF && form.get('user') === USER && form.get('password') === PASSWORD;
      if (!good) {
        sendHtml(visit, renderPage({ title: 'Log in', body: `<p class=error>Wrong.</p>${FORM}` }), 403);
        return;
      }
      const uses = Number(form.get('uses'));
      setToken(visit, sessions.open(USER, uses > 0 ? uses : Infinity));
      sendRedirect(visit, '/account', 303);
    },
    logout(visit) {
      sessions.end(tokenOf(visit) ?? '');
      visit.response.setHeader('set-cookie', `${SESSION_COOKIE}=; Path=/; Max-Age=0`);
      sendRedirect(visit, '/login', 303);
    },
    account(visit) {
      const token = tokenOf(visit);
      const session = sessions.use(token, visit.ip);
      if (!session || token === undefined) {
        turnAway(visit);
        return;
      }
      if (visit.rest === 'rotate') setToken(visit, sessions.rotate(token) ?? token);
      else visit.response.setHeader('set-cookie', `page=${session.uses}; Path=/`);
      sendHtml(visit, renderAccount(session));
    },
  };
}

/** People are sent to the form; programs are told. */
function turnAway(visit: Visit): void {
  if (visit.request.headers.accept?.includes('html')) sendRedirect(visit, '/login');
  else sendJson(visit, { error: 'log in first' }, 401);
}

function renderAccount({ user, uses }: SiteSession): string {
  return renderPage({
    title: 'Your account',
    body: `<h1>Hello, <span class="user">${escapeHtml(user)}</span></h1><p>Pages seen: <b class="uses">${uses}</b> <a href="/logout">Log out</a>`,
  });
}

function tokenOf({ request }: Visit): string | undefined {
  return readCookie(request.headers.cookie, SESSION_COOKIE);
}

function setToken({ response }: Visit, token: string): void {
  response.setHeader('set-cookie', [`${SESSION_COOKIE}=${token}; Path=/; HttpOnly`, 'theme=light; Path=/']);
}
