import t from 'tap';
import { createRunId, defaultRunId, isRunId, nextRunId } from '../../src/domain/run-id.ts';
import { TOKEN } from '../../src/wire/names.ts';

t.test('a new run is named by the second it began, in UTC', async (t) => {
  t.equal(createRunId(Date.UTC(2026, 0, 31, 23, 59, 59, 999)), '20260131_235959');
  t.equal(createRunId(0), '19700101_000000');
});

t.test('a taken name gets a number, and stays a token', async (t) => {
  t.equal(nextRunId('20260131_235959', 2), '20260131_235959-2');
  t.equal(nextRunId('20260131_235959', 13), '20260131_235959-13');
  const long = nextRunId('x'.repeat(64), 100);
  t.equal(long, `${'x'.repeat(60)}-100`);
  t.ok(isRunId(long));
});

t.test('the default run of a scraper', async (t) => {
  t.equal(defaultRunId('prices'), 'default-prices');
  const one = defaultRunId(`${'x'.repeat(63)}1`);
  const other = defaultRunId(`${'x'.repeat(63)}2`);
  t.ok(isRunId(one) && isRunId(other), 'a token, however long the scraper’s name is');
  t.not(one, other);
});

t.test('a run’s name is what a subject takes between two dots', async (t) => {
  const names = ['a', 'A-z_9', 'x'.repeat(64), '', 'x'.repeat(65), 'a.b', 'a b', '*', '>', 'ü', 'a\n', '\n'];
  for (const name of names) t.equal(isRunId(name), TOKEN.test(name), JSON.stringify(name));
  t.same(names.filter(isRunId), ['a', 'A-z_9', 'x'.repeat(64)]);
});
