import t from 'tap';
import type { NoEgressReason } from '../../src/domain/egress.ts';
import { failureOfDenial } from '../../src/fetch/denial-failure.ts';
import { judgePage } from '../../src/fetch/judge-page.ts';
import { createLiveSession } from '../../src/fetch/live-session.ts';
import { makePage } from '../../src/fetch/make-page.ts';
import { createPageCache } from '../../src/fetch/page-cache.ts';
import { createUseMeter, DEMAND_DEFAULTS, planDemand } from '../../src/fetch/plan-wants.ts';
import { createProfiles } from '../../src/fetch/profiles.ts';
import { readRequest } from '../../src/fetch/read-request.ts';
import type { HttpAnswer } from '../../src/http/engine.ts';
import { compileRules } from '../../src/policy/block-rules.ts';
import type { Page } from '../../src/scrapers/page.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';

const NOW = Date.UTC(2026, 0, 1);

function answer(change: Partial<HttpAnswer> = {}): HttpAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'text/html' },
    setCookie: [],
    body: Buffer.from('<p>hello'),
    bytesReceived: 8,
    httpVersion: '1.1',
    timing: { firstByteMs: 1, totalMs: 2 },
    ...change,
  };
}

function pageOf(change: Partial<HttpAnswer> = {}): Page {
  const url = 'https://site.example/a';
  return makePage(answer(change), { url, egress: 'p1', redirects: [], fromCache: false, notModified: false });
}

t.test('what a denial means for the task', async (t) => {
  const code = (reason: NoEgressReason, whenNone: 'wait' | 'fail', tried: string[] = []): unknown => {
    const facts = { host: 'site.example=8080', whenNone, tried, now: NOW };
    const failure = failureOfDenial({ kind: 'denied', reason, retryInMs: 1_500.5 }, facts);
    t.match(failure.message, /site\.example/);
    return [failure.code, failure.retryAtMs === undefined ? undefined : failure.retryAtMs - NOW];
  };
  t.same(code('rate_limited', 'wait'), ['NO_EGRESS', 1_501]);
  t.same(code('rate_limited', 'fail'), ['REJECTED', undefined]);
  t.same(code('host_closed', 'fail'), ['NO_EGRESS', 1_501], 'the host wants us to wait, and there is a way');
  t.same(code('no_proxy_available', 'wait'), ['NO_EGRESS', 1_501]);
  t.same(
    code('no_proxy_available', 'wait', ['p1']),
    ['PROXY', undefined],
    'all were tried: they may be again',
  );
});

t.test('the demand: what waits, and what the last second says about the next', async (t) => {
  const facts = { unserved: 0, usedLately: 0, permits: 0, inUse: 0, scarce: false };
  const plan = (change: Partial<typeof facts>): unknown =>
    planDemand({ ...facts, ...change }, DEMAND_DEFAULTS);
  t.equal(plan({}), undefined);
  t.same(plan({ unserved: 3, inUse: 2 }), { count: 3, slots: 5 });
  t.same(plan({ unserved: 3, usedLately: 100 }), { count: 103, slots: 3 });
  t.same(plan({ usedLately: 100, permits: 49 }), { count: 100, slots: 1 });
  t.equal(plan({ usedLately: 100, permits: 50 }), undefined);
  t.equal(
    plan({ usedLately: 100, scarce: true }),
    undefined,
    'of what others go without nothing is taken ahead',
  );
  t.equal(plan({ usedLately: 9 }), undefined, 'nor of what is hardly used');
  t.same(plan({ unserved: 5_000 }), { count: 1_000, slots: 1_000 });
});

t.test('the meter forgets after a second', async (t) => {
  const meter = createUseMeter();
  for (let ms = 5_000; ms < 6_000; ms += 100) meter.count(ms);
  t.equal(meter.lately(5_999), 10);
  t.equal(meter.lately(6_450), 5);
  t.equal(meter.lately(60_000), 0);
});

t.test('pages are kept by what they are recognised by, within so many bytes', async (t) => {
  const cache = createPageCache({ maxBytes: 100_000 });
  cache.keep('none', answer());
  t.equal(cache.find('none'), undefined, 'nothing to ask the site with');
  cache.keep('a', answer({ headers: { etag: '"1"' } }));
  t.match(cache.find('a'), { etag: '"1"' });
  cache.keep('large', answer({ headers: { etag: '"2"' }, body: Buffer.alloc(50_000) }));
  t.equal(cache.find('large'), undefined, 'one page does not push out all others');
  for (let n = 0; n < 30; n += 1) {
    cache.keep(`k${n}`, answer({ headers: { 'last-modified': 'x' }, body: Buffer.alloc(4_000) }));
    t.ok(cache.find('a'), 'what is used stays');
    t.ok(cache.bytes() <= 100_000);
  }
  t.equal(cache.find('k0'), undefined);
  cache.keep('a', answer());
  t.equal(cache.find('a'), undefined, 'the site no longer says what to recognise it by');
});

t.test('the scraper has its say about a page', async (t) => {
  const judge = (page: Page, scraper: Partial<Scraper> = {}, accept?: readonly number[] | 'any'): unknown => {
    const rules = compileRules(scraper.blocks ?? []);
    const { outcome, code, soft } = judgePage(page, { scraper, rules, accept, now: NOW });
    return [outcome, code, soft];
  };
  t.same(judge(pageOf()), ['ok', undefined, false]);
  t.same(judge(pageOf({ status: 404 })), ['ok', 'REJECTED', false]);
  t.same(judge(pageOf({ status: 404 }), {}, [404]), ['ok', undefined, false]);
  t.same(judge(pageOf(), {}, [404]), ['ok', 'REJECTED', false], 'what was not asked for');
  t.same(judge(pageOf({ status: 302 })), ['ok', 'REJECTED', false], 'a redirect that was not followed');
  t.same(judge(pageOf({ status: 304 })), ['ok', undefined, false]);
  t.same(
    judge(pageOf({ status: 429 }), {}, 'any'),
    ['throttled', undefined, false],
    'the manager hears of it',
  );
  t.same(judge(pageOf(), { blocks: [{ body: 'hel+o' }] }), ['blocked', 'BLOCKED', false]);
  t.same(judge(pageOf(), { validate: () => false }), ['blocked', 'BLOCKED', true]);
  t.same(judge(pageOf(), { validate: () => 'no price' }), ['blocked', 'BLOCKED', true]);
  t.same(judge(pageOf(), { validate: () => true }), ['ok', undefined, false]);
  t.same(judge(pageOf({ status: 403 }), { classify: () => 'ok' }), ['ok', undefined, false]);
  t.same(judge(pageOf(), { classify: () => 'throttled' }), ['throttled', 'THROTTLED', false]);
  t.same(judge(pageOf(), { classify: () => undefined }), ['ok', undefined, false]);
});

t.test('a page reads itself as text and as JSON', async (t) => {
  const page = pageOf({ body: Buffer.from('{"a":1}'), headers: { 'content-type': 'application/json' } });
  t.equal(page.text(), '{"a":1}');
  t.same(page.json(), { a: 1 });
  t.throws(() => pageOf().json(), { code: 'TARGET' });
});

t.test('a request is checked before anything is asked for', async (t) => {
  const settings = {
    timeouts: { connectMs: 1, headersMs: 2, bodyMs: 3, totalMs: 4 },
    maxBytes: 5,
    maxRedirects: 6,
    http2: false,
    robots: true,
    profile: 'plain',
    egress: { via: 'auto', whenNone: 'wait', select: 'lru' },
  } as const;
  const read = (...[url, options = {}]: [string, object?]): unknown =>
    readRequest(url, options, {}, settings);
  t.match(read('https://a.example/x'), {
    method: 'GET',
    timeoutMs: 4,
    maxBytes: 5,
    maxRedirects: 6,
    robots: true,
  });
  t.match(read('https://a.example/', { method: 'post', json: { a: 1 } }), {
    method: 'POST',
    body: '{"a":1}',
    headers: [['content-type', 'application/json']],
  });
  for (const [url, options] of [
    ['ftp://a.example/', {}],
    ['nothing', {}],
    ['https://u:canary@a.example/', {}],
    ['https://a.example/', { body: 'x' }],
    ['https://a.example/', { method: 'POST', body: 'x', json: 1 }],
    ['https://a.example/', { method: 'G T' }],
  ] as const)
    t.throws(() => read(url, options), { code: 'INVALID', message: /^(?!.*canary)/ });
});

t.test('profiles: the plain one says who we are, unknown ones are refused', async (t) => {
  const profiles = createProfiles('robot/1');
  const url = new URL('http://a.example/');
  t.same(
    profiles
      .headers('plain', url, [
        ['accept', 'text/html'],
        ['X-Own', '1'],
      ])
      .slice(0, 2),
    [
      ['User-Agent', 'robot/1'],
      ['Accept', 'text/html'],
    ],
  );
  t.match(profiles.userAgentOf('firefox-linux'), /Firefox/);
  t.throws(() => profiles.userAgentOf('netscape'), { code: 'INVALID', hint: /plain, chrome-windows/ });
});

t.test('a session tells what has changed, once', async (t) => {
  const session = createLiveSession({ id: 's1', state: 'fresh', userAgent: '', headers: {}, cookies: '' });
  t.same(session.news('ok'), { id: 's1', verdict: 'ok' });
  session.adopt('agent/1');
  session.adopt('agent/2');
  session.setCookie('sid=1; Path=/', 'https://site.example/');
  session.setHeaders({ 'x-csrf': 'y' });
  session.setValidUntil(NOW);
  t.equal(session.cookie('sid', 'https://site.example/a'), '1');
  t.equal(session.cookie('sid', 'https://other.example/'), undefined);
  const news = session.news('ok');
  t.match(news, { userAgent: 'agent/1', headers: { 'x-csrf': 'y' }, validUntil: NOW });
  t.same(session.news('error'), { id: 's1', verdict: 'error' });
  session.invalidate();
  t.same(session.news('ok'), { id: 's1', verdict: 'invalid' });
  const again = createLiveSession({
    id: 's1',
    state: 'valid',
    userAgent: 'agent/1',
    headers: {},
    cookies: news.cookies ?? '',
  });
  t.equal(again.cookie('sid', 'https://site.example/'), '1', 'cookies come back');
  const broken = createLiveSession({ id: 's', state: 'valid', userAgent: 'a', headers: {}, cookies: '{' });
  t.equal(broken.cookie('sid', 'https://site.example/'), undefined);
});
