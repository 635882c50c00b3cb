/** The least that a program has to do for a page: undici's request, the same parser, the same selectors. It keeps nothing. */
import { Pool } from 'undici';
import { compileExtractor } from '../../../src/extract/extractor.ts';
import type { FieldSpec } from '../../../src/extract/field-spec.ts';
import { EACH, FIELDS, ITEM, type Names } from '../parse-wanted.ts';

export async function open({ site, atOnce }: { site: string; atOnce: number }): Promise<{
  run: (job: { from: number; count: number }) => Promise<{ ms: number; items: number }>;
}> {
  const specs = (names: Names): Record<string, FieldSpec> =>
    Object.fromEntries(Object.entries(names).map(([name, [css, attr]]) => [name, { css, attr }]));
  const extractor = compileExtractor({ fields: specs(FIELDS), items: { each: EACH, fields: specs(ITEM) } });
  const pool = new Pool(site, { connections: atOnce });
  return {
    async run({ from, count }) {
      const began = performance.now();
      let next = from;
      let items = 0;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (next < from + count) {
            const path = `/product/${next++}`;
            const { body } = await pool.request({ path, method: 'GET' });
            const html = await body.text();
            const found = extractor.extract({
              url: `${site}${path}`,
              headers: {},
              text: () => html,
              json: () => undefined,
            });
            items += found.items.length;
          }
        }),
      );
      return { ms: performance.now() - began, items };
    },
  };
}
