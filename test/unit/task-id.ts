import t from 'tap';
import { createHash } from 'node:crypto';
import { canonicalJson, createProblemId, createTaskId, shortHash } from '../../src/domain/task-id.ts';
import { TOKEN } from '../../src/wire/names.ts';

const url = 'https://example.com/a?x=1';

t.test('an id is 128 bits of SHA-256 over a text that another program can make', async (t) => {
  const digest = (text: string): string =>
    createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
  t.equal(createTaskId({ scraper: 'prices', url }), digest(`prices\0url\0GET\0${url}`));
  t.equal(
    createTaskId({ scraper: 'prices', url, method: 'post', body: { b: 1, a: 2 } }),
    digest(`prices\0url\0POST\0${url}\0{"a":2,"b":1}`),
  );
  t.equal(createTaskId({ scraper: 'prices', key: 'k' }), digest('prices\0key\0k'));
  t.equal(createTaskId({ scraper: 'prices', input: { user: 'x' } }), digest('prices\0input\0{"user":"x"}'));
});

t.test('it is always a token of 22 characters, and the bytes of the hash', async (t) => {
  for (let n = 0; n < 2_000; n += 1) {
    const id = shortHash(String(n));
    const bytes = createHash('sha256').update(String(n)).digest().subarray(0, 16).toString('base64url');
    if (id.slice(1) !== bytes.slice(1) || id.length !== 22 || !TOKEN.test(id)) return t.fail(`${n}: ${id}`);
  }
  return t.pass('2,000 ids');
});

t.test('it never begins like an option of a command', async (t) => {
  const firsts = new Map<string, number>();
  for (let n = 0; n < 20_000; n += 1) {
    const id = shortHash(String(n));
    const first = id.charAt(0);
    firsts.set(first, (firsts.get(first) ?? 0) + 1);
    const bytes = createHash('sha256').update(String(n)).digest().subarray(0, 16).toString('base64url');
    if (id !== bytes.replace(/^-/, '_')) return t.fail(`${n}: ${id}`);
  }
  t.equal(firsts.get('-'), undefined);
  return t.equal(firsts.size, 63, 'all the others are there');
});

t.test('the same task has the same id', async (t) => {
  const same: [string, Parameters<typeof createTaskId>[0], Parameters<typeof createTaskId>[0]][] = [
    [
      'spelling of the URL',
      { scraper: 's', url },
      { scraper: 's', url: 'HTTPS://EXAMPLE.com:443/b/../a?x=1#top' },
    ],
    ['GET is the default', { scraper: 's', url }, { scraper: 's', url, method: 'get' }],
    [
      'a key wins over the url',
      { scraper: 's', key: 'k', url },
      { scraper: 's', key: 'k', url: 'https://other.example/' },
    ],
    [
      'with a url, the input does not count',
      { scraper: 's', url, input: { a: 1 } },
      { scraper: 's', url, input: { a: 2 } },
    ],
    [
      'order of keys',
      { scraper: 's', input: { a: 1, b: { c: 1, d: 2 } } },
      { scraper: 's', input: { b: { d: 2, c: 1 }, a: 1 } },
    ],
  ];
  for (const [name, one, other] of same) t.equal(createTaskId(one), createTaskId(other), name);
  const tracked = { scraper: 's', url: `${url}&utm_source=mail` };
  t.equal(createTaskId(tracked, { dropTracking: true }), createTaskId({ scraper: 's', url }));
  t.not(createTaskId(tracked), createTaskId({ scraper: 's', url }));
});

t.test('different tasks have different ids', async (t) => {
  const tasks: Parameters<typeof createTaskId>[0][] = [
    { scraper: 's', url },
    { scraper: 's2', url },
    { scraper: 's', url: `${url}1` },
    { scraper: 's', url, method: 'POST' },
    { scraper: 's', url, body: '' },
    { scraper: 's', url, body: 'null' },
    { scraper: 's', url, body: null },
    { scraper: 's', url, body: '{"a":1}' },
    { scraper: 's', url, body: { a: 1 } },
    { scraper: 's', url, body: Uint8Array.of(1) },
    { scraper: 's', url, body: 'bytes"AQ"' },
    { scraper: 's', key: url },
    { scraper: 's', key: '' },
    { scraper: 's', key: `GET\0${url}` },
    { scraper: 's', input: { url } },
    { scraper: 's', input: {} },
    { scraper: 's', input: { a: [1, [2]] } },
    { scraper: 's', input: { a: [[1], 2] } },
    { scraper: 's', input: { a: '1' } },
    { scraper: 's', input: { a: 1 } },
    { scraper: 's', input: { a: 1n } },
  ];
  const ids = new Set(tasks.map((task) => createTaskId(task)));
  t.equal(ids.size, tasks.length - 1, 'all but 1 and 1n, which are the same number');
});

t.test('what cannot be told apart is refused', async (t) => {
  t.throws(() => createTaskId({ scraper: 's' }), {
    code: 'INVALID',
    message: /needs a url, a key or an input/,
  });
  t.throws(() => createTaskId({ scraper: 's', url, method: 'G\0T' }), { code: 'INVALID', message: /method/ });
  t.throws(() => createTaskId({ scraper: 's', url: 'x' }), { code: 'INVALID', message: /not a URL/ });
  for (const value of [new Map(), new Set(), () => 1, Symbol('x')])
    t.throws(() => canonicalJson({ value }), { code: 'INVALID', message: /plain data/ });
});

t.test('canonical JSON', async (t) => {
  t.equal(
    canonicalJson({ b: undefined, a: [undefined, null, -0, 1.5, true] }),
    '{"a":[null,null,0,1.5,true]}',
  );
  t.equal(canonicalJson({ at: new Date(0) }), '{"at":"1970-01-01T00:00:00.000Z"}');
  t.equal(canonicalJson(Object.assign(Object.create(null) as object, { é: '\ud800' })), '{"é":"\\ud800"}');
});

t.test('a problem’s id follows its bytes and its place', async (t) => {
  const problem = { scraper: 's', index: 3, original: Uint8Array.of(1, 2) };
  t.equal(createProblemId(problem), createProblemId({ ...problem, original: Uint8Array.of(1, 2) }));
  t.not(createProblemId(problem), createProblemId({ ...problem, index: 4 }));
  t.not(createProblemId(problem), createProblemId({ ...problem, scraper: 't' }));
  t.not(createProblemId(problem), createProblemId({ ...problem, original: Uint8Array.of(1) }));
  t.match(createProblemId(problem), TOKEN);
});
