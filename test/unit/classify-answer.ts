/** What answers mean, by status and by the rules of a scraper. */
import t from 'tap';
import { compileRules, RULES_MAX, type BlockRule } from '../../src/policy/block-rules.ts';
import { BODY_SEEN_BYTES, classifyAnswer, outcomeOfFailure } from '../../src/policy/classify-answer.ts';

const NOW = 1_000_000;

interface Given {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

function classify({ status, headers = {}, body = '' }: Given, rules: readonly BlockRule[] = []): object {
  return classifyAnswer({ status, headers, body: Buffer.from(body) }, compileRules(rules), NOW);
}

t.test('by status', async (t) => {
  const table: readonly (readonly [number, string, string | undefined])[] = [
    [200, 'ok', undefined],
    [204, 'ok', undefined],
    [206, 'ok', undefined],
    [301, 'ok', undefined],
    [304, 'ok', undefined],
    [400, 'ok', 'REJECTED'],
    [401, 'blocked', 'BLOCKED'],
    [403, 'blocked', 'BLOCKED'],
    [404, 'ok', 'REJECTED'],
    [407, 'target', 'TARGET'],
    [408, 'target', 'TARGET'],
    [410, 'ok', 'REJECTED'],
    [425, 'target', 'TARGET'],
    [429, 'throttled', 'THROTTLED'],
    [451, 'ok', 'REJECTED'],
    [500, 'target', 'TARGET'],
    [502, 'target', 'TARGET'],
    [503, 'target', 'TARGET'],
    [504, 'target', 'TARGET'],
    [599, 'target', 'TARGET'],
  ];
  for (const [status, outcome, code] of table) {
    const verdict = classify({ status });
    t.match(verdict, { outcome, reason: `status ${status}` }, String(status));
    t.equal((verdict as { code?: string }).code, code, String(status));
  }
});

t.test('with Retry-After', async (t) => {
  const headers = { 'retry-after': '30' };
  t.match(classify({ status: 429, headers }), { outcome: 'throttled', retryAfterMs: 30_000 });
  t.match(classify({ status: 503, headers }), {
    outcome: 'throttled',
    code: 'THROTTLED',
    retryAfterMs: 30_000,
  });
  t.match(classify({ status: 403, headers }), { outcome: 'blocked', retryAfterMs: 30_000 });
  t.notOk('retryAfterMs' in classify({ status: 429, headers: { 'retry-after': 'later' } }));
});

t.test('rules of a scraper', async (t) => {
  const rules: BlockRule[] = [
    { status: 200, body: '(?i)are you a robot' },
    { header: { name: 'X-Guard' } },
    { status: [200, 202], header: { name: 'server', matches: '^shield' }, outcome: 'throttled' },
  ];
  t.match(classify({ status: 200, body: '<h1>Are you a ROBOT?' }, rules), {
    outcome: 'blocked',
    code: 'BLOCKED',
  });
  t.match(classify({ status: 201, body: 'are you a robot' }, rules), { outcome: 'ok' });
  t.match(classify({ status: 500, headers: { 'x-guard': '' } }, rules), { outcome: 'blocked' });
  t.match(classify({ status: 202, headers: { server: 'shield/2' } }, rules), { code: 'THROTTLED' });
  t.match(classify({ status: 200, headers: { server: 'a shield' } }, rules), { outcome: 'ok' });
});

t.test('a body is read in its own charset, and only its beginning', async (t) => {
  const rules = [{ body: 'доступ запрещён' }];
  // "доступ запрещён" in windows-1251
  const body = Buffer.from('e4eef1f2f3ef20e7e0eff0e5f9b8ed', 'hex');
  const headers = { 'content-type': 'text/html; charset=windows-1251' };
  t.match(classify({ status: 200, headers, body }, rules), { outcome: 'blocked' });
  const late = Buffer.concat([Buffer.alloc(BODY_SEEN_BYTES, ' '), Buffer.from('доступ запрещён')]);
  t.match(classify({ status: 200, body: late }, rules), { outcome: 'ok' });
});

t.test('rules that are refused', async (t) => {
  const bad: readonly (readonly BlockRule[])[] = [
    [{}],
    [{ body: '(' }],
    [{ body: '(?=look)' }],
    [{ body: '(a)\\1' }],
    [{ body: '(?<=behind)x' }],
    [{ body: '((a{1,1000}){1,1000}){1,1000}' }],
    [{ header: { name: 'x', matches: 'x'.repeat(513) } }],
    Array.from({ length: RULES_MAX + 1 }, () => ({ status: 200 })),
  ];
  for (const rules of bad) t.throws(() => compileRules(rules), { code: 'INVALID' }, JSON.stringify(rules[0]));
});

t.test('no pattern runs for long', async (t) => {
  const body = `${'a'.repeat(BODY_SEEN_BYTES - 1)}!`;
  const rules = Array.from({ length: RULES_MAX }, () => ({ body: '(a+)+$' }));
  const startedAt = performance.now();
  t.match(classify({ status: 200, body }, rules), { outcome: 'ok' });
  t.ok(performance.now() - startedAt < 10_000, 'with as many rules as there may be');
});

t.test('requests without an answer', async (t) => {
  const table = [
    ['PROXY', false, 'proxy'],
    ['NETWORK', true, 'network'],
    ['TIMEOUT', false, 'timeout'],
    ['INVALID', true, 'target'],
    ['INVALID', false, 'unsent'],
    ['REJECTED', true, 'ok'],
    ['REJECTED', false, 'unsent'],
    ['CANCELLED', true, 'ok'],
    ['CANCELLED', false, 'unsent'],
  ] as const;
  for (const [code, sent, outcome] of table)
    t.equal(outcomeOfFailure({ code, sent }), outcome, `${code} ${sent}`);
});
