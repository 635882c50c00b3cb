/** The scraper of the fetch bench, as a user writes it: a template with the selectors that all contestants have. */
import { EACH, FIELDS, ITEM, type Names } from '../parse-wanted.ts';

export function productsTemplate(): string {
  const fields = (names: Names): object =>
    Object.fromEntries(
      Object.entries(names).map(([name, [css, attr]]) => [name, attr === undefined ? css : { css, attr }]),
    );
  const template = {
    name: 'products',
    mode: 'distributed',
    engine: 'http',
    pages: [
      {
        match: '/product/*',
        kind: 'product',
        fields: { ...fields(FIELDS), items: { each: EACH, fields: fields(ITEM) } },
      },
    ],
  };
  return JSON.stringify(template, undefined, 2); // which is YAML as well
}
