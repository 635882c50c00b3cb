/** Which task enqueued the tasks of a message: headers that a worker sets, and that nobody else can misuse. */
import t from 'tap';
import { parseSubmission, type ParsedSubmission } from '../../src/wire/submission.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';

const parse = (headers: Readonly<Record<string, string>>, body: string): ParsedSubmission =>
  parseSubmission({
    subject: { scraper: 'shop', run: 'r' },
    headers: (name) => headers[name],
    data: Buffer.from(body),
    now: 0,
    limits: SUBMISSION_LIMITS,
  });
const parent = 'abcdefghijklmnopqrst-_';

t.test('all tasks of the message have them', async (t) => {
  const { requests } = parse(
    { 'Trawl-Depth': '3', 'Trawl-Parent': parent },
    '["http://a.example/",{"key":"b"}]',
  );
  t.match(requests, [
    { depth: 3, parent },
    { key: 'b', depth: 3, parent },
  ]);
});

t.test('a field of that name is the scraper’s', async (t) => {
  const { requests } = parse({}, '{"key":"b","depth":"deep","parent":{"x":1}}');
  t.match(requests, [{ input: { depth: 'deep', parent: { x: 1 } } }]);
  t.notOk(requests[0] && ('depth' in requests[0] || 'parent' in requests[0]));
});

t.test('hostile values are refused', async (t) => {
  for (const value of ['-1', '1.5', '1e3', '100001', '9999999', 'NaN', '0x10', 'a'])
    t.match(
      parse({ 'Trawl-Depth': value }, 'http://a.example/').problems,
      [{ reason: /^header Trawl-Depth: / }],
      value,
    );
  for (const value of ['short', `${parent}x`, 'a.b.c.d.e.f.g.h.i.j.k.', '__proto__', '>'])
    t.match(
      parse({ 'Trawl-Parent': value }, 'http://a.example/').problems,
      [{ reason: /^header Trawl-Parent: / }],
      value,
    );
});
