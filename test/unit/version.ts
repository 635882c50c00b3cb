import t from 'tap';
import { isAtLeast } from '../../src/domain/version.ts';

t.test('versions compare field by field', async (t) => {
  const table: [string, string, boolean][] = [
    ['2.14.0', '2.14.0', true],
    ['2.15.1', '2.14.0', true],
    ['2.9.10', '2.14.0', false],
    ['2.14', '2.14.0', true],
    ['3.0.0', '2.14.9', true],
    ['2.14.1-preview.2', '2.14.1', true],
    ['2.13.99', '2.14.0', false],
    ['', '2.14.0', false],
    ['not a version', '2.14.0', false],
  ];
  for (const [version, minimum, expected] of table) {
    t.equal(isAtLeast(version, minimum), expected, `${version} >= ${minimum}`);
  }
});
