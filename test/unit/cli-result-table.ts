import t from 'tap';
import type { TaskOutcome } from '../../src/client/results.ts';
import { createRowWriter } from '../../src/cli/result-rows.ts';
import { renderItems } from '../../src/cli/result-table.ts';

const outcome = (changes: Partial<TaskOutcome>): TaskOutcome => ({
  ...{ id: 't1', run: 'r', scraper: 's', state: 'done', at: 0, items: [], faults: [] },
  ...changes,
});

t.test('fields are columns, as many as fit', async (t) => {
  const items = [
    {
      kind: 'price',
      data: { name: 'Lamp', price: { amount: 3.5, currency: 'USD' }, tags: [1, 2], none: null },
    },
    { kind: 'price', data: { name: 'A\tchair\u001b[2J', price: { amount: 12, currency: 'EUR' }, late: 'x' } },
  ];
  t.equal(
    renderItems(items, 80),
    [
      'KIND   NAME         PRICE    TAGS  LATE',
      'price  Lamp         3.5 USD  2 ×',
      'price  A chair [2J  12 EUR         x',
    ].join('\n'),
  );
  t.equal(renderItems(items, 20).split('\n')[0], 'KIND   NAME');
  t.match(renderItems([{ data: { text: 'x'.repeat(200) } }], 80), /^TEXT\nx{31}…$/, 'long ones are cut');
  t.equal(renderItems([{ data: 7 }], 80).split('\n')[1], '7', 'what is no object is one cell');
});

t.test('a table that grows keeps the columns of its first rows', async (t) => {
  const rows = createRowWriter('table', 'done', { columns: 80 });
  t.equal(rows.write(outcome({ items: [{ a: 1 }] })), '', 'a few are looked at first');
  t.equal(rows.write(outcome({ items: [{ a: 'long', b: 2 }] })), '');
  t.equal(rows.end?.(), 'A     B\n1\nlong  2\n');
  const following = createRowWriter('table', 'done', { columns: 80, atOnce: true });
  t.equal(following.write(outcome({ items: [{ a: 1 }] })), 'A\n1\n');
  t.equal(following.write(outcome({ items: [{ a: 'long', b: 2 }] })), '…\n');
  t.equal(following.end?.(), '');
});

t.test('what is dead is told with its error', async (t) => {
  const dead = outcome({ state: 'dead', url: 'http://a/', error: { code: 'TIMEOUT', message: 'too late' } });
  const rows = createRowWriter('table', 'dead', { columns: 80 });
  rows.write(dead);
  t.equal(rows.end?.(), 'TASK  STATE  CODE     ERROR     URL\nt1    dead   TIMEOUT  too late  http://a/\n');
  const done = createRowWriter('table', 'done');
  t.equal(done.write(outcome({})) + (done.end?.() ?? ''), '', 'without items there is nothing to show');
});
