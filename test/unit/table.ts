import t from 'tap';
import { renderAge, renderTable } from '../../src/cli/table.ts';

t.test('columns are as wide as their widest cell, without trailing blanks', async (t) => {
  t.equal(renderTable(['A', 'LONG'], [['xyz', '1']]), 'A    LONG\nxyz  1');
  t.equal(renderTable(['A'], []), 'A');
});

t.test('ages have two units at most', async (t) => {
  const table: [number, string][] = [
    [-5, '0s'],
    [999, '0s'],
    [1_000, '1s'],
    [61_000, '1m 1s'],
    [60_000, '1m'],
    [3_600_000, '1h'],
    [3_661_000, '1h 1m'],
    [90_000_000, '1d 1h'],
  ];
  for (const [ms, shown] of table) t.equal(renderAge(ms), shown, String(ms));
});
