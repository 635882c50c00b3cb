/** One attempt that fetches several pages of a host that wants to be asked slowly. */
import t from 'tap';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { task } from '../kit/visitor.ts';

const PAGES = 4;

for (const limits of [{ delayMs: 2_500 }, { egressDelayMs: 2_500 }] as const) {
  t.test(`all of its pages, each once, with ${JSON.stringify(limits)}`, async (t) => {
    const world = await openFetchWorld(t, { flags: { 'fetch.robots': 'false' } });
    const { site } = world;
    await world.call('hosts.set', { host: `127.0.0.1:${site.port}`, jitter: 0, ...limits });
    await world.start([
      {
        name: 'pager',
        timeoutMs: 60_000,
        async run({ fetch }) {
          for (let n = 1; n <= PAGES; n += 1) await fetch(`${site.url}/product/${n}`);
        },
      },
    ]);
    const outcomes = await world.settle(
      [{ ...task('pages', `${site.url}/product/1`), scraper: 'pager' }],
      40_000,
    );
    t.match([...outcomes.values()], [{ state: 'done', faults: [] }]);
    t.same(
      site.log.map(({ path }) => path),
      Array.from({ length: PAGES }, (_, n) => `/product/${n + 1}`),
    );
  });
}
