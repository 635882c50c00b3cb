import t from 'tap';
import { encode } from '../../src/wire/codec.ts';
import { TOKEN } from '../../src/wire/names.ts';
import { parseSubmission, type ParsedProblem, type ParsedSubmission } from '../../src/wire/submission.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const GOOD = 'https://good.example/';
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const json = (value: unknown): Uint8Array => text(JSON.stringify(value));

function parse(
  data: Uint8Array,
  subject = { scraper: 'prices' },
  headers: Record<string, string> = {},
): ParsedSubmission {
  return parseSubmission({
    subject,
    headers: (name) => headers[name],
    data,
    now: NOW,
    limits: SUBMISSION_LIMITS,
  });
}

t.test('a message that cannot be read is one problem with all its bytes', async (t) => {
  const cases: [string, Uint8Array, RegExp][] = [
    ['empty', new Uint8Array(), /empty/],
    ['blank', text(' \n\r\n\t'), /empty/],
    ['only a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf), /empty/],
    ['empty array', text(' [ ] '), /empty/],
    ['empty msgpack array', encode([]), /empty/],
    ['broken JSON', text(`{"url":"${GOOD}",}`), /broken JSON at character 32: a name in double quotes/],
    ['cut JSON', text('{"url":'), /broken JSON at character 8: it ends too early/],
    ['cut text', text('{"url":"https://x'), /broken JSON at character 8: a text .* is not closed/],
    ['broken document', text('{\n  "url": x\n}'), /broken JSON at line 2, character 10: a value/],
    ['broken array', text(`["${GOOD}" "${GOOD}"]`), /broken JSON at character 26: a comma/],
    ['two documents', text(`[1] [2]`), /broken JSON at character 5: there is more text/],
    ['not JSON at all', text('{url: 1}'), /broken JSON at character 2: a name in double quotes or }/],
    ['array that is not UTF-8', Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d), /the message is not UTF-8/],
    ['line that is not UTF-8', Uint8Array.of(0x68, 0x74, 0xff), /not UTF-8/],
    ['cut msgpack', encode({ url: GOOD }).slice(0, 12), /cut short/],
    ['two msgpack values', Uint8Array.of(0x90, 0x90), /neither text nor msgpack/],
    ['unused msgpack code', Uint8Array.of(0xc1), /neither text nor msgpack/],
    ['msgpack number', encode(-5), /a task is a URL or an object, not -5/],
    ['a word', text('hello'), /not a URL: it does not begin with http/],
    ['a word in another script', text('привет'), /not a URL/],
    ['a number', text('42'), /not a URL/],
  ];
  for (const [name, data, reason] of cases) {
    const { requests, problems, duplicates } = parse(data);
    t.same([requests.length, problems.length, duplicates], [0, 1, 0], name);
    t.match(problems[0], { index: 0, scraper: 'prices', reason, id: TOKEN }, name);
    t.same(bytesOf(problems[0]), [...data], `${name}: all its bytes`);
  }
});

t.test('a subject or header that is wrong is one problem with all bytes', async (t) => {
  const cases: [string, { scraper: string; run?: string }, Record<string, string>, RegExp][] = [
    ['scraper', { scraper: 'a b' }, {}, /scraper in the subject must be 1 to 64 letters/],
    ['long scraper', { scraper: 'x'.repeat(65) }, {}, /scraper in the subject/],
    ['run', { scraper: 's', run: 'ü' }, {}, /run in the subject must be/],
    [
      'priority',
      { scraper: 's' },
      { 'Trawl-Priority': '10' },
      /^header Trawl-Priority: .* from 0 to 9, not 10/,
    ],
    ['priority', { scraper: 's' }, { 'Trawl-Priority': 'high' }, /from 0 to 9, not "high"/],
    ['priority', { scraper: 's' }, { 'Trawl-Priority': '1.5' }, /from 0 to 9/],
    ['run', { scraper: 's' }, { 'Trawl-Run': 'a.b' }, /^header Trawl-Run: .* not "a.b"/],
    ['time', { scraper: 's' }, { 'Trawl-Not-Before': 'tomorrow' }, /^header Trawl-Not-Before: .*"tomorrow"/],
    ['key', { scraper: 's' }, { 'Trawl-Key': 'x'.repeat(513) }, /^header Trawl-Key: key is too long/],
    [
      'key for two',
      { scraper: 's' },
      { 'Trawl-Key': 'x' },
      /Trawl-Key names one task, but the message has 2/,
    ],
  ];
  const data = text(`${GOOD}1\n${GOOD}2`);
  for (const [name, subject, headers, reason] of cases) {
    const { requests, problems } = parse(data, subject, headers);
    t.equal(requests.length, 0, name);
    t.match(problems, [{ index: 0, reason, original: data }], name);
    t.equal(problems.length, 1, name);
  }
});

const BAD_TASKS: [string, unknown, RegExp][] = [
  ['no identity', {}, /needs a url, a key or an input/],
  ['no identity either', { priority: 3, run: 'r' }, /needs a url, a key or an input/],
  ['priority 10', { url: GOOD, priority: 10 }, /priority must be a whole number from 0 to 9, not 10/],
  ['priority in words', { url: GOOD, priority: 'high' }, /from 0 to 9, not "high"/],
  ['priority as text', { url: GOOD, priority: '5' }, /from 0 to 9, not "5"/],
  ['priority with a fraction', { url: GOOD, priority: 1.5 }, /from 0 to 9, not 1.5/],
  ['priority below', { url: GOOD, priority: -1 }, /from 0 to 9, not -1/],
  ['priority object', { url: GOOD, priority: {} }, /from 0 to 9, not an object/],
  ['url of another kind', { url: 5 }, /url must be text, not 5/],
  ['bad url', { url: 'ftp://x.example/' }, /only http and https, not ftp/],
  ['url without host', { url: 'http://' }, /no host/],
  ['url with password', { url: 'http://admin:secret@x.example/' }, /has a user and password in it/],
  ['bad url beside a key', { url: 'nonsense', key: 'k' }, /not a URL/],
  ['two lines in one url', { url: `${GOOD}\n${GOOD}` }, /line break/],
  ['long url', { url: `${GOOD}${'x'.repeat(8_192)}` }, /too long/],
  ['key of another kind', { key: 5 }, /key must be text, not 5/],
  ['empty key', { key: '' }, /key is empty/],
  ['long key', { key: 'x'.repeat(513) }, /key is too long: at most 512/],
  ['run with a dot', { url: GOOD, run: 'a.b' }, /run must be 1 to 64 letters, digits, _ or -, not "a.b"/],
  ['run with a wildcard', { url: GOOD, run: '>' }, /run must be/],
  ['empty run', { url: GOOD, run: '' }, /run must be/],
  ['run with a line break', { url: GOOD, run: 'a\n' }, /run must be/],
  ['run of another kind', { url: GOOD, run: ['a'] }, /run must be .* not an array/],
  [
    'unreadable time',
    { url: GOOD, notBefore: 'tomorrow' },
    /notBefore must be epoch milliseconds .*"tomorrow"/,
  ],
  ['time without zone', { url: GOOD, notBefore: '2026-02-01T00:00:00' }, /notBefore must be/],
  ['no such day', { url: GOOD, notBefore: '2026-02-32' }, /notBefore must be/],
  ['time below zero', { url: GOOD, notBefore: -1 }, /notBefore must be/],
  ['time with a fraction', { url: GOOD, notBefore: 1.5 }, /notBefore must be/],
  ['time in seconds', { url: GOOD, notBefore: Math.floor(NOW / 1_000) }, /looks like seconds/],
  ['time too far ahead', { url: GOOD, notBefore: NOW + 367 * 86_400_000 }, /too far ahead: at most 366 days/],
  ['text too far ahead', { url: GOOD, notBefore: '2028-01-01' }, /too far ahead/],
  ['input of another kind', { url: GOOD, input: 'x' }, /input must be an object, not "x"/],
  ['input as a list', { input: [1] }, /input must be an object, not an array/],
  ['a field twice', { url: GOOD, a: 1, input: { a: 2 } }, /"a" is given twice: beside input and inside it/],
  ['method of another kind', { url: GOOD, method: 5 }, /method must be text, not 5/],
  ['method that is none', { url: GOOD, method: 'GET /' }, /method must be a word/],
  ['a list', ['x'], /a task is a URL or an object, not an array/],
  ['null', null, /a task is a URL or an object, not null/],
  ['a truth', true, /a task is a URL or an object, not true/],
  ['a bad text', 'nonsense', /not a URL/],
  ['an empty text', '', /not a URL/],
  [
    'forbidden key',
    JSON.parse('{"url":"https://x.example","__proto__":{"admin":true}}'),
    /forbidden key: __proto__/,
  ],
  ['forbidden key inside', { input: { a: [{ constructor: 1 }] } }, /forbidden key: constructor/],
  [
    'too deep',
    { input: JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as unknown },
    /nested deeper than 64/,
  ],
  ['too large', { url: GOOD, text: 'x'.repeat(SUBMISSION_LIMITS.taskMaxBytes) }, /bytes: at most 262144/],
];

t.test('a bad member costs nothing but itself, in every layout', async (t) => {
  for (const [name, task, reason] of BAD_TASKS) {
    const own = JSON.stringify(task);
    const first = `${GOOD}1`;
    const last = { url: `${GOOD}2` };
    const spaced = `[ "${first}" ,\n ${own} , ${JSON.stringify(last)} ]`;
    const layouts: [string, Uint8Array, Uint8Array][] = [
      ['array', text(spaced), text(own)],
      ['msgpack', encodeAll([first, task, last]), encodeOne(task)],
    ];
    if (typeof task === 'object' && task !== null)
      layouts.push(['lines', text(`${first}\n${own}\n\n${JSON.stringify(last)}`), text(own)]);
    for (const [layout, data, original] of layouts) {
      const { requests, problems, duplicates } = parse(data);
      t.same([requests.length, problems.length, duplicates], [2, 1, 0], `${name} in ${layout}`);
      t.match(problems[0], { index: 1, scraper: 'prices', reason, id: TOKEN }, `${name} in ${layout}`);
      t.ok(
        Buffer.from(original).equals(problems[0]?.original ?? Buffer.of()),
        `${name} in ${layout}: its bytes`,
      );
    }
  }
});

t.test('a broken line costs nothing but itself, wherever it is', async (t) => {
  const lines = [
    '{"url":',
    '{"url": "x", }',
    '{broken',
    'nonsense',
    '"https://cut',
    '{"url":"https://cut',
    '[',
    'é',
  ];
  for (const line of lines.filter((each) => each !== '[')) {
    const { requests, problems } = parse(text(`${line}\n${GOOD}1\n{"url":"${GOOD}2"}`));
    t.same([requests.length, problems.length, problems[0]?.index], [2, 1, 0], `first: ${line}`);
  }
  for (const line of lines) {
    const { requests, problems } = parse(text(`${GOOD}1\n${line}\n{"url":"${GOOD}2"}`));
    t.same([requests.length, problems.length, problems[0]?.index], [2, 1, 1], `middle: ${line}`);
    t.same(bytesOf(problems[0]), [...text(line)]);
  }
  const wrong = Buffer.concat([text(`${GOOD}1\n{"a":"`), Uint8Array.of(0xff), text(`"}\n\n${GOOD}2\r\n`)]);
  const { requests, problems } = parse(wrong);
  t.same([requests.length, requests[1]?.url], [2, `${GOOD}2`]);
  t.match(problems, [{ index: 1, reason: /not UTF-8/ }]);
  t.equal(Buffer.from(problems[0]?.original ?? []).toString('latin1'), '{"a":"\xff"}');
});

t.test('a bad task is buried in the run it names, else in that of the message', async (t) => {
  const data = json([{ run: 'r1', priority: 10 }, { run: 'a.b', url: GOOD }, 'nonsense']);
  t.same(
    parse(data, { scraper: 'prices' }, { 'Trawl-Run': 'r0' }).problems.map(({ run }) => run),
    ['r1', 'r0', 'r0'],
  );
  t.same(
    parse(data).problems.map(({ run }) => run),
    ['r1', undefined, undefined],
  );
});

t.test('the same message gives the same ids again', async (t) => {
  const data = json(BAD_TASKS.map(([, task]) => task));
  const once = parse(data).problems.map(({ id }) => id);
  t.same(
    parse(data).problems.map(({ id }) => id),
    once,
  );
  t.equal(new Set(once).size, BAD_TASKS.length);
});

t.test('no reason repeats a password', async (t) => {
  const url = 'http://admin:s3cret@x.example/';
  const bodies = [
    url,
    `{"url":"${url}"}`,
    `{"url":"${url}"`,
    `["${url}" x]`,
    'ftp://admin:s3cret@x.example/',
    'admin:s3cret@x.example',
    'http://admin:s3cret@x example/',
    `{"url":"${url}" "}`,
  ];
  for (const body of bodies) {
    const { problems } = parse(text(body));
    t.equal(problems.length, 1, body);
    t.notMatch(problems[0]?.reason, /s3cret/, body);
  }
});

function bytesOf(problem: ParsedProblem | undefined): number[] {
  return [...(problem?.original ?? [])];
}

/** Member by member, because the general packer renames `__proto__`. */
function encodeAll(members: unknown[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x90 + members.length), ...members.map(encodeOne)]);
}

function encodeOne(value: unknown): Uint8Array {
  if (typeof value !== 'object' || value === null) return encode(value);
  if (Array.isArray(value)) return encodeAll(value);
  const fields = Object.entries(value).flatMap(([name, field]) => [encode(name), encodeOne(field)]);
  return Buffer.concat([Uint8Array.of(0x80 + Object.keys(value).length), ...fields]);
}
