/** Small pages with one trait each: statuses, redirects, validators, echoes. */
import { readBody, readNumber, sendJson, sendRedirect, sendText, type Page, type Pages } from '../visit.ts';
import { sendNotFound } from './catalogue.ts';

const REDIRECTS_MAX = 1000;
const MODIFIED_AT = 'Wed, 01 Jan 2025 00:00:00 GMT';

export function plainPages(): Pages {
  return {
    health: (visit) => sendText(visit, 'ok'),
    ip: (visit) => sendJson(visit, { ip: visit.ip }),
    headers(visit) {
      const { headers, rawHeaders } = visit.request;
      sendJson(visit, { headers, rawHeaders });
    },
    async echo(visit) {
      const body = await readBody(visit);
      const { method, url, headers } = visit.request;
      sendJson(visit, { method, url, type: headers['content-type'], body: body?.toString() ?? null });
    },
    status(visit) {
      const code = /^[2-5]\d\d$/.test(visit.rest) ? Number(visit.rest) : 400;
      if (code >= 300 && code < 400 && code !== 304) sendRedirect(visit, '/', code);
      else sendText(visit, `status ${code}`, code);
    },
    redirect,
    'redirect-loop': (visit) =>
      sendRedirect(visit, visit.rest === 'b' ? '/redirect-loop/a' : '/redirect-loop/b'),
    'redirect-to': (visit) =>
      sendRedirect(
        visit,
        (visit.query.get('url') ?? '/').replace(/[^\x21-\x7e]/g, encodeURIComponent),
        Math.floor(readNumber(visit, 'status', { fallback: 302, min: 300, max: 308 })),
      ),
    etag(visit) {
      const etag = `"v${(visit.query.get('version') ?? '1').replace(/\W/g, '')}"`;
      visit.response.setHeader('etag', etag);
      if (visit.request.headers['if-none-match'] === etag) sendText(visit, '', 304);
      else sendText(visit, `content ${etag}`);
    },
    'last-modified'(visit) {
      visit.response.setHeader('last-modified', MODIFIED_AT);
      const since = Date.parse(visit.request.headers['if-modified-since'] ?? '');
      if (since >= Date.parse(MODIFIED_AT)) sendText(visit, '', 304);
      else sendText(visit, 'content of 2025');
    },
  };
}

const redirect: Page = (visit) => {
  const left = /^\d+$/.test(visit.rest) ? Math.min(Number(visit.rest), REDIRECTS_MAX) : NaN;
  if (left === 0) sendText(visit, 'arrived');
  else if (left > 0) sendRedirect(visit, `/redirect/${left - 1}`);
  else sendNotFound(visit);
};
