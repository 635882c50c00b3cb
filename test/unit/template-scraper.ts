/** What a template's task leaves: the same, in the same places, as that of a handler with a schema of its items. */
import t from 'tap';
import { describeTry } from '../../src/cli/try-report.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { TaskResult, TaskSpec } from '../../src/domain/task.ts';
import { createAggregate } from '../../src/policy/aggregate.ts';
import { loadTemplate } from '../../src/templates/template-scraper.ts';
import { createFakeEngine } from '../../src/testing/fake-site.ts';
import { createLocalFetcher } from '../../src/testing/local-fetcher.ts';
import { runOnce, type OnceOutcome } from '../../src/testing/run-once.ts';
import { createTestClock, testScraper } from '../../src/testing/test-scraper.ts';
import { quietLog } from '../kit/nats-server.ts';

const text = `name: shop
pages:
  - match: /list
    kind: product
    items:
      each: li
      fields:
        name: { css: b, required: true }
        size: { css: i, type: number }
  - fields: { title: { css: h1, required: true } }
`;
const shop = loadTemplate(text, 'shop.yaml');
const list = '<ul><li><b>x</b><i>1</i><li><i>2</i><li><b>z</b><i>much</i></ul>';
const url = 'https://site.test/list';

async function runHere(body: string): Promise<OnceOutcome> {
  const { fetcher } = createLocalFetcher({
    config: loadConfig({ flags: { 'fetch.robots': 'false' }, env: {}, cwd: '/' }).config,
    log: quietLog,
    clock: createTestClock(),
    engine: createFakeEngine({ '/list': body }),
  });
  t.teardown(() => fetcher.close());
  return runOnce(shop, { url }, { fetcher, log: quietLog, timeoutMs: 10_000 });
}

t.test('bad items are kept apart in a test, with their places and what is wrong', async (t) => {
  const { items, badItems, data, error } = await testScraper(shop, { site: { '/list': list }, url });
  t.equal(error, undefined);
  t.same(items, [{ kind: 'product', data: { name: 'x', size: 1 } }]);
  t.match(badItems, [
    { index: 1, problem: 'item: name is missing', item: { kind: 'product', data: { name: null, size: 2 } } },
    { index: 2, problem: /^item: size / },
  ]);
  t.same(data, { followed: 0, refused: {} });
  const page = await testScraper(shop, { site: { '/': '<p>no title' } });
  t.match(page, { items: [], badItems: [{ index: 0, problem: 'item: title is missing' }] });
});

t.test('they are counted in the result, shown by try, and summed up by aggregate', async (t) => {
  const outcome = await runHere(list);
  t.match(outcome.result, { published: 1, total: 3, errors: 2, badItems: { length: 2 } });
  const report = describeTry({
    scraper: 'shop',
    file: 'shop.yaml',
    url,
    proxy: undefined,
    requests: [],
    outcome,
  });
  t.match(report.text, /Bad items: 2\n {2}item: name is missing\n/);
  t.match(report.value, { published: 1, total: 3, errors: 2 });

  const aggregate = createAggregate('scraper');
  const spec: TaskSpec = { id: 'a', run: 'r', scraper: 'shop', url, priority: 5, createdAt: 1 };
  const result = outcome.result as TaskResult;
  aggregate.add({ state: 'done', spec, at: 1, faults: [], worker: 'w', startedAt: 1, result });
  t.match(aggregate.total(), { items: 1, badItems: 2 });
});

t.test('of many bad items all are counted and the first are kept', async (t) => {
  const { result } = await runHere(`<ul>${'<li><i>1</i>'.repeat(50)}</ul>`);
  t.match(result, { published: 0, total: 50, errors: 50, badItems: { length: 20 } });
});
