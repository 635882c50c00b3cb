import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { hostOf, normalizeUrl, URL_MAX_LENGTH } from '../../src/domain/url.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

t.test('one spelling', async (t) => {
  const cases: [string, string][] = [
    ['HTTP://Example.COM', 'http://example.com/'],
    ['https://example.com:443/a', 'https://example.com/a'],
    ['http://example.com:80', 'http://example.com/'],
    ['http://example.com:443/', 'http://example.com:443/'],
    ['https://example.com/a#top', 'https://example.com/a'],
    ['https://example.com/a#', 'https://example.com/a'],
    ['https://example.com/a/./b/../c', 'https://example.com/a/c'],
    ['https://example.com/A', 'https://example.com/A'],
    ['https://example.com?', 'https://example.com/'],
    ['https://example.com/?b=2&a=1', 'https://example.com/?a=1&b=2'],
    ['https://example.com/?b=2&a=2&b=1&a=1', 'https://example.com/?a=2&a=1&b=2&b=1'],
    ['https://example.com/?b&a=&a&&', 'https://example.com/?a=&a&b'],
    ['https://example.com/?q=%2f%2F+%20x&p=a%3Db=c', 'https://example.com/?p=a%3Db=c&q=%2f%2F+%20x'],
    ['https://example.com/?q=a#b?c=d', 'https://example.com/?q=a'],
    ['  https://example.com/a b \r', 'https://example.com/a%20b'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://[::1]:8080/', 'http://[::1]:8080/'],
    ['https://example.com/?utm_source=x&a=1', 'https://example.com/?a=1&utm_source=x'],
  ];
  for (const [raw, wanted] of cases) t.equal(normalizeUrl(raw), wanted, raw);
});

t.test('tracking parameters are left out when asked', async (t) => {
  const cases: [string, string][] = [
    ['https://example.com/?utm_source=x&a=1&UTM_Medium=y&gclid=1', 'https://example.com/?a=1'],
    ['https://example.com/?fbclid=1', 'https://example.com/'],
    ['https://example.com/?msclkid&utm_x=', 'https://example.com/'],
    ['https://example.com/?utmost=1', 'https://example.com/?utmost=1'],
    ['https://example.com/a?x=utm_source', 'https://example.com/a?x=utm_source'],
  ];
  for (const [raw, wanted] of cases) t.equal(normalizeUrl(raw, { dropTracking: true }), wanted, raw);
});

t.test('what is no address is refused, with the reason and never with a password', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /not a URL/],
    ['example.com', /not a URL: it does not begin with http/],
    ['//example.com/', /not a URL/],
    ['ftp://example.com/', /only http and https, not ftp/],
    ['javascript:alert(1)', /only http and https/],
    ['file:///etc/passwd', /only http and https, not file/],
    ['example.com:80/secret', /only http and https/],
    ['admin:secret@example.com', /only http and https/],
    ['http://', /no host/],
    ['http:///path', /no host/],
    ['https://?q=secret', /no host/],
    ['http:example.com', /must go on with \/\//],
    ['http:\\\\example.com', /must go on with \/\//],
    ['http://a b/', /host or port/],
    ['http://example.com:99999/', /host or port/],
    ['http://exa<mple.com/', /host or port/],
    ['http://admin:secret@example.com/', /has a user and password in it/],
    ['http://secret@example.com/', /has a user and password in it/],
    ['http://admin:secret@exa mple.com/', /host or port/],
    ['http://a.example/\nhttp://b.example/', /line break/],
    ['http://a.example/\tx', /tab/],
    [`http://example.com/${'x'.repeat(URL_MAX_LENGTH)}`, /too long: at most 8192/],
    [`http://example.com/${'ü'.repeat(3_000)}`, /too long/],
  ];
  for (const [raw, reason] of cases) {
    const shown = raw.slice(0, 60);
    t.throws(() => normalizeUrl(raw), { name: 'Failure', code: 'INVALID', message: reason }, shown);
    t.notMatch(reasonOf(raw), /secret/, `${shown}: nothing of it is repeated`);
  }
});

t.test('normalising twice changes nothing, and order of parameters and fragments never matter', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  let good = 0;
  for (let round = 0; round < 5_000; round += 1) {
    const parts = randomUrl(random);
    const raw = parts.base + (parts.query.length > 0 ? `?${parts.query.join('&')}` : '');
    for (const options of [{}, { dropTracking: true }]) {
      const once = attempt(() => normalizeUrl(raw, options));
      if (once === undefined) continue;
      good += 1;
      if (normalizeUrl(once, options) !== once) return t.fail(`not stable: ${JSON.stringify(raw)}`);
      if (normalizeUrl(`${raw}#${round}`, options) !== once)
        return t.fail(`fragment: ${JSON.stringify(raw)}`);
      if (hostOf(once) !== hostOf(raw)) return t.fail(`host: ${JSON.stringify(raw)}`);
      const turned = `${parts.base}?${[...parts.query].reverse().join('&')}`;
      const unique = new Set(parts.query.map((pair) => pair.split('=')[0])).size === parts.query.length;
      if (unique && normalizeUrl(turned, options) !== once) return t.fail(`order: ${JSON.stringify(raw)}`);
    }
  }
  return t.ok(good > 2_000, `${good} of 10,000 were addresses`);
});

t.test('the answer stays the same when the code gets hot', async (t) => {
  const raw = 'http://bücher.example/ü';
  for (let round = 0; round < 200_000; round += 1)
    if (normalizeUrl(raw) !== 'http://xn--bcher-kva.example/%C3%BC') return t.fail(`in round ${round}`);
  return t.pass('200,000 times');
});

t.test('any text at all is an address or INVALID', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 5_000; round += 1) {
    const tail = String.fromCharCode(
      ...Array.from({ length: random.int(0, 30) }, () => random.int(0, 0x3000)),
    );
    const raw = random.pick(['', 'http://', 'https://a', 'http://a.b/']) + tail;
    try {
      normalizeUrl(raw);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'INVALID') return t.fail(JSON.stringify(raw));
    }
  }
  return t.pass('5,000 texts');
});

t.test('the host comes with its port, unless it is the scheme’s own', async (t) => {
  t.equal(hostOf('https://Example.com:443/a'), 'example.com');
  t.equal(hostOf('http://127.0.0.1:8080/a'), '127.0.0.1:8080');
  t.throws(() => hostOf('nothing'), { code: 'INVALID' });
});

function randomUrl(random: Random): { base: string; query: string[] } {
  const scheme = random.pick(['http', 'https', 'HTTP', 'hTTps']);
  const host = random.pick([
    'a.example',
    'A.Example',
    'ü.example',
    '[::1]',
    '10.1',
    'a..b',
    'x_y',
    '%41.example',
  ]);
  const port = random.pick(['', ':80', ':443', ':8080', ':', ':0']);
  const pieces = [
    'a',
    '..',
    '.',
    '',
    '%2e%2E',
    'ü',
    '%',
    '%zz',
    'a b',
    ';x',
    '@',
    ':',
    '\\',
    '|',
    '\u{1f600}',
    '\ud800',
  ];
  const values = ['', '=', '=1', '=%20+', '=a=b', '=ü', '=\'"', '=?', '=/', '=%', '=\ud800'];
  const names = ['a', 'b', 'B', 'utm_x', 'gclid', '%61', 'ü', '', 'a[]', '?'];
  const pick = (from: string[]): string => from[random.int(0, from.length - 1)] ?? '';
  const path = Array.from({ length: random.int(0, 5) }, () => `/${pick(pieces)}`).join('');
  const query = Array.from({ length: random.int(0, 5) }, () => pick(names) + pick(values));
  return { base: `${scheme}://${host}${port}${path}`, query };
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function reasonOf(raw: string): string {
  try {
    return normalizeUrl(raw);
  } catch (error) {
    return `${(error as Failure).message} ${(error as Failure).hint ?? ''}`;
  }
}
