import t from 'tap';
import {
  given,
  parseAge,
  readAge,
  readText,
  readTexts,
  readWhole,
  requireText,
} from '../../src/cli/arguments.ts';

t.test('ages have units', async (t) => {
  const table: [string, number | undefined][] = [
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['5', undefined],
    ['', undefined],
    ['1w', undefined],
    ['1h 30m', undefined],
    ['-1h', undefined],
    ['1.5h', undefined],
  ];
  for (const [text, ms] of table) t.equal(parseAge(text), ms, text);
  t.equal(readAge({ since: '1h' }, 'since'), 3_600_000);
  t.throws(() => readAge({ since: '0s' }, 'since'), { code: 'INVALID', message: /--since must be an age/ });
});

t.test('texts and numbers', async (t) => {
  t.equal(readText({}, 'run'), undefined);
  t.equal(readText({ run: ' a ' }, 'run'), 'a');
  t.throws(() => readText({ run: '' }, 'run'), { message: '--run needs a value' });
  t.throws(() => readText({ run: ['a', 'b'] }, 'run'), { message: '--run takes one value, not 2' });
  t.throws(() => requireText({}, 'run', 'trawl x RUN'), { message: 'run is missing', hint: 'trawl x RUN' });
  t.same(readTexts({ url: 'a' }, 'url'), ['a']);
  t.same(readTexts({ url: ['a', 'b'] }, 'url'), ['a', 'b']);
  t.same(readTexts({}, 'url'), []);
  t.equal(readWhole({ limit: '0' }, 'limit', { min: 0, max: 9 }), 0);
  for (const limit of ['10', '-1', '1.5', 'x', '1e1'])
    t.throws(() => readWhole({ limit }, 'limit', { min: 0, max: 9 }), { code: 'INVALID' }, limit);
  t.same(given({ a: 1, b: undefined, c: null }), { a: 1, c: null });
});
