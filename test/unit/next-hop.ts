/** Where redirects lead. */
import t from 'tap';
import { decideNextHop, headersAfter, isRedirect, type Hop } from '../../src/policy/next-hop.ts';

const from = new URL('https://shop.example/a/b?c=1#part');

function hop(status: number, location: string, method = 'GET'): Hop {
  const next = decideNextHop({ from, status, location, method });
  if (next.kind === 'refused') throw new Error(next.message);
  return next.hop;
}

t.test('which statuses are redirects', async (t) => {
  t.same([200, 300, 301, 302, 303, 304, 305, 307, 308].filter(isRedirect), [301, 302, 303, 307, 308]);
});

t.test('locations are read as a browser would', async (t) => {
  t.equal(hop(302, 'd').url.href, 'https://shop.example/a/d#part');
  t.equal(hop(302, '/d#x').url.href, 'https://shop.example/d#x');
  t.equal(hop(302, '?q').url.href, 'https://shop.example/a/b?q#part');
  t.equal(hop(302, '//other.example/x').url.href, 'https://other.example/x#part');
  t.equal(hop(302, 'http://shop.example/x').url.protocol, 'http:', 'down to http is allowed');
});

t.test('methods', async (t) => {
  const table: readonly (readonly [number, string, string, boolean])[] = [
    [301, 'POST', 'GET', false],
    [302, 'POST', 'GET', false],
    [303, 'POST', 'GET', false],
    [303, 'PUT', 'GET', false],
    [303, 'HEAD', 'HEAD', true],
    [301, 'PUT', 'PUT', true],
    [307, 'POST', 'POST', true],
    [308, 'POST', 'POST', true],
    [302, 'HEAD', 'HEAD', true],
  ];
  for (const [status, method, expected, keepsBody] of table) {
    t.match(hop(status, '/x', method), { method: expected, keepsBody }, `${status} ${method}`);
  }
});

t.test('another origin gets no cookies and no authorization', async (t) => {
  const headers = [
    ['Accept', 'a'],
    ['Cookie', 'b'],
    ['Authorization', 'c'],
    ['Host', 'shop.example'],
    ['Content-Type', 'd'],
  ] as const;
  const names = (one: Hop): string[] => headersAfter(headers, one).map(([name]) => name);
  t.same(names(hop(307, '/x', 'POST')), ['Accept', 'Cookie', 'Authorization', 'Host', 'Content-Type']);
  t.same(names(hop(302, '/x', 'POST')), ['Accept', 'Cookie', 'Authorization', 'Host']);
  for (const other of ['https://other.example/', 'http://shop.example/', 'https://shop.example:444/']) {
    t.equal(hop(302, other).crossesOrigin, true, other);
    t.same(names(hop(307, other, 'POST')), ['Accept', 'Content-Type'], other);
  }
});

t.test('what is not followed', async (t) => {
  const table: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'no-location'],
    ['  ', 'no-location'],
    ['http://', 'unreadable'],
    ['https://[::1', 'unreadable'],
    ['file:///etc/passwd', 'scheme'],
    ['ftp://shop.example/', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['data:text/html,x', 'scheme'],
    ['https://user:secret@shop.example/', 'userinfo'],
    ['//user@shop.example/', 'userinfo'],
  ];
  for (const [location, reason] of table) {
    const next = decideNextHop({ from, status: 302, location, method: 'GET' });
    t.match(next, { kind: 'refused', reason }, String(location));
    t.notMatch(JSON.stringify(next), /secret/);
  }
});
