import t from 'tap';
import { createTaskId } from '../../src/domain/task-id.ts';
import { encode } from '../../src/wire/codec.ts';
import { parseSubmission, type ParsedSubmission, type Submission } from '../../src/wire/submission.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const A = 'https://a.example/1';
const B = 'https://b.example/2';

interface Given {
  scraper?: string;
  run?: string;
  headers?: Record<string, string>;
}

function parse(body: string | Uint8Array, given: Given = {}): ParsedSubmission {
  const submission: Submission = {
    subject: { scraper: given.scraper ?? 'prices', ...(given.run !== undefined && { run: given.run }) },
    headers: (name) => given.headers?.[name],
    data: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    now: NOW,
    limits: SUBMISSION_LIMITS,
  };
  return parseSubmission(submission);
}

const idOf = (url: string): string => createTaskId({ scraper: 'prices', url });
const bare = (url: string): object => ({ id: idOf(url), scraper: 'prices', url, priority: 0 });

t.test('every way to write two addresses', async (t) => {
  const bodies: [string, string | Uint8Array][] = [
    ['lines', `${A}\n${B}`],
    ['lines with carriage returns and blanks', `\r\n  ${A} \r\n\r\n\t${B}\r\n`],
    ['lines after a byte order mark', `\ufeff${A}\n${B}\n`],
    ['JSON array of texts', JSON.stringify([A, B])],
    ['JSON array of objects', JSON.stringify([{ url: A }, { url: B }])],
    ['JSON array over lines', JSON.stringify([{ url: A }, B], undefined, 2)],
    ['JSON lines', `{"url":"${A}"}\n{"url":"${B}"}\n`],
    ['JSON lines of texts', `"${A}"\n"${B}"`],
    ['lines of every kind', `${A}\n{"url":"${B}"}`],
    ['an object and then a line', `{"url":"${A}"}\n${B}`],
    ['msgpack array of texts', encode([A, B])],
    ['msgpack array of maps', encode([{ url: A }, { url: B }])],
    ['msgpack array of both', encode([A, { url: B }])],
  ];
  for (const [name, body] of bodies)
    t.same(parse(body), { requests: [bare(A), bare(B)], problems: [], duplicates: 0 }, name);
});

t.test('every way to write one', async (t) => {
  const long = `${A}?${'x'.repeat(140)}`;
  const bodies: [string, string | Uint8Array, string][] = [
    ['an address', A, A],
    ['an address in capitals', 'HTTPS://A.EXAMPLE/1', 'HTTPS://A.EXAMPLE/1'],
    ['an object', `{"url":"${A}"}`, A],
    ['an object over lines', JSON.stringify({ url: A }, undefined, 2), A],
    ['an object with leading commas', `{ "url": "${A}"\n, "priority": 0\n}`, A],
    ['a JSON text', `"${A}"`, A],
    ['an array of one', `["${A}"]`, A],
    ['a msgpack text', encode(A), A],
    ['a msgpack text whose bytes could be UTF-8', encode(long), long],
    ['a msgpack map', encode({ url: A }), A],
  ];
  for (const [name, body, url] of bodies)
    t.same(parse(body), { requests: [bare(url)], problems: [], duplicates: 0 }, name);
});

t.test('the fields of a task', async (t) => {
  const task = { url: A, priority: 7, run: 'r1', notBefore: NOW + 1_000, key: 'k', input: { a: 1 } };
  const wanted = { ...task, id: createTaskId({ scraper: 'prices', key: 'k' }), scraper: 'prices' };
  t.same(parse(JSON.stringify(task)).requests, [wanted], 'as JSON');
  t.same(parse(encode(task)).requests, [wanted], 'as msgpack');
  t.same(parse(JSON.stringify({ ...task, notBefore: '2026-01-31T13:00:01+01:00' })).requests, [wanted]);
  t.same(parse(JSON.stringify({ ...task, notBefore: String(NOW + 1_000) })).requests, [wanted]);
  const nothing = { url: A, key: null, priority: null, run: null, notBefore: null, input: null };
  t.same(parse(JSON.stringify(nothing)).requests, [bare(A)], 'null is not given');
  t.equal(
    parse('{"url":"https://a.example","notBefore":"2026-02-01"}').requests[0]?.notBefore,
    Date.UTC(2026, 1, 1),
  );
  t.ok(Object.is(parse(`{"url":"${A}","priority":-0}`).requests[0]?.priority, 0));
});

t.test('every other field joins the input, exactly as if it had been written there', async (t) => {
  const beside = parse(JSON.stringify({ url: A, username: 'x', limit: 5, method: 'POST', body: { q: 1 } }));
  const inside = parse(
    JSON.stringify({ url: A, input: { username: 'x', limit: 5, method: 'POST', body: { q: 1 } } }),
  );
  t.same(beside.requests[0]?.input, { username: 'x', limit: 5, method: 'POST', body: { q: 1 } });
  t.same(beside, inside);
  const mixed = parse(JSON.stringify({ input: { b: 2 }, a: 1 }));
  t.same(mixed.requests[0]?.input, { b: 2, a: 1 });
  t.equal(mixed.requests[0]?.id, createTaskId({ scraper: 'prices', input: { a: 1, b: 2 } }));
});

t.test('the identity of a task', async (t) => {
  const id = (task: object): string | undefined => parse(JSON.stringify(task)).requests[0]?.id;
  t.equal(id({ url: A, username: 'x' }), idOf(A), 'with an address, the input does not count');
  t.equal(id({ url: A, method: 'get', body: null }), idOf(A));
  t.not(id({ url: A, method: 'POST' }), idOf(A));
  t.not(id({ url: A, body: 'x' }), idOf(A));
  t.equal(id({ url: A, key: 'k' }), id({ url: B, key: 'k' }), 'a key wins');
  t.equal(id({ url: `${A}#top` }), idOf(A));
});

t.test('addresses go without tracking parameters where a header says so', async (t) => {
  const headers = { 'Trawl-Drop-Tracking': 'true' };
  const raw = `${A}?utm_source=mail`;
  const body = [raw, `${A}?b&a`, JSON.stringify({ url: ` ${raw} `, key: 'k', n: 1 })].join('\n');
  const { requests } = parse(body, { headers });
  t.same(requests, [
    { id: idOf(A), scraper: 'prices', url: A, input: { rawUrl: raw }, priority: 0 },
    { id: idOf(`${A}?a&b`), scraper: 'prices', url: `${A}?b&a`, priority: 0 },
    {
      ...{ id: createTaskId({ scraper: 'prices', key: 'k' }), scraper: 'prices', url: A, key: 'k' },
      ...{ input: { rawUrl: raw, n: 1 }, priority: 0 },
    },
  ]);
  const again = JSON.stringify(requests.slice(0, 2).map(({ url, input }) => ({ url, input })));
  t.same(
    parse(again).requests.map(({ id }) => id),
    [idOf(A), idOf(`${A}?a&b`)],
    'whoever submits them again need not say it',
  );
  t.equal(parse(`${raw}\n${A}`, { headers }).duplicates, 1);
  const mine = parse(JSON.stringify({ url: raw, rawUrl: 'mine' }), { headers }).requests[0];
  t.same(mine?.input, { rawUrl: 'mine' });
  t.match(parse('http://a b/', { headers }).problems, [{ index: 0 }]);
  for (const value of [undefined, '', 'false'])
    t.match(parse(raw, { headers: value === undefined ? {} : { 'Trawl-Drop-Tracking': value } }).requests, [
      { id: idOf(raw), url: raw },
    ]);
  t.match(parse(raw, { headers: { 'Trawl-Drop-Tracking': 'yes' } }).problems, [
    { reason: /^header Trawl-Drop-Tracking: it must be true or false, not "yes"/ },
  ]);
});

t.test('headers hold for every task, and a field beats its header', async (t) => {
  const headers = { 'Trawl-Priority': ' 5 ', 'Trawl-Run': 'r1', 'Trawl-Not-Before': '2026-02-01T00:00:00Z' };
  const { requests } = parse(`${A}\n{"url":"${B}","priority":9,"run":"r2","notBefore":0}`, { headers });
  t.match(requests[0], { priority: 5, run: 'r1', notBefore: Date.UTC(2026, 1, 1) });
  t.match(requests[1], { priority: 9, run: 'r2', notBefore: 0 });
  t.equal(parse(A, { headers: { 'Trawl-Priority': '' } }).requests[0]?.priority, 0, 'empty is not given');
  const keyed = parse(A, { headers: { 'Trawl-Key': 'k' } }).requests[0];
  t.match(keyed, { key: 'k', id: createTaskId({ scraper: 'prices', key: 'k' }), url: A });
  t.match(parse(`{"key":"own"}`, { headers: { 'Trawl-Key': 'k' } }).requests[0], { key: 'own' });
});

t.test('the run of the subject', async (t) => {
  t.equal(parse(A, { run: 'r1' }).requests[0]?.run, 'r1');
  t.equal(parse(`{"url":"${A}","run":"r1"}`, { run: 'r1' }).requests[0]?.run, 'r1');
  const other = parse(`${A}\n{"url":"${B}","run":"r2"}`, { run: 'r1' });
  t.equal(other.requests.length, 1);
  t.match(other.problems, [{ index: 1, run: 'r1', reason: /"r2" is not the run of the subject, "r1"/ }]);
  t.match(parse(A, { run: 'r1', headers: { 'Trawl-Run': 'r2' } }).problems, [
    { index: 0, run: 'r1', reason: /^header Trawl-Run: run "r2" is not the run of the subject/ },
  ]);
});

t.test('the first of several alike is kept, and the others are counted', async (t) => {
  const { requests, duplicates, problems } = parse(
    [A, `{"url":"${A}#top","priority":9}`, B, A, `{"url":"${A}","run":"r2"}`, 'nonsense', 'nonsense'].join(
      '\n',
    ),
  );
  t.same(
    requests.map(({ url, run, priority }) => [url, run, priority]),
    [
      [A, undefined, 0],
      [B, undefined, 0],
      [A, 'r2', 0],
    ],
  );
  t.equal(duplicates, 2);
  t.equal(problems.length, 2, 'each bad member is its own problem');
  t.not(problems[0]?.id, problems[1]?.id);
  t.equal(
    parse(`${A}\n{"url":"${A}","run":"default-prices"}`).duplicates,
    1,
    'no run and the default run are the same run',
  );
});

t.test('thousands in one message', async (t) => {
  const urls = Array.from({ length: SUBMISSION_LIMITS.tasksMax }, (_, index) => `${A}/${index}`);
  for (const body of [urls.join('\n'), JSON.stringify(urls), encode(urls)]) {
    const { requests, problems, duplicates } = parse(body);
    t.same([requests.length, problems.length, duplicates], [urls.length, 0, 0]);
  }
  const more = [...urls, B];
  for (const body of [more.join('\n'), JSON.stringify(more), encode(more)]) {
    const { requests, problems } = parse(body);
    t.equal(requests.length, 0);
    t.match(problems, [{ index: 0, reason: /10001 tasks in one message: at most 10000/ }]);
    t.equal(problems[0]?.original.length, body.length);
  }
});
