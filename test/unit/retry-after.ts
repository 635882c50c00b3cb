/** How long a host asks us to wait. */
import t from 'tap';
import { parseRetryAfter } from '../../src/policy/retry-after.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');

t.test('seconds and dates', async (t) => {
  const table: readonly (readonly [string | undefined, number | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7000],
    ['1.5', 1000],
    ['999999999', 999_999_999_000],
    ['9999999999', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['1e3', undefined],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
    ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
    ['Fri Jan  2 03:04:06 2026 GMT', 1000],
    ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
    ['2026-01-02', undefined],
  ];
  for (const [header, expected] of table) t.equal(parseRetryAfter(header, NOW), expected, String(header));
});
