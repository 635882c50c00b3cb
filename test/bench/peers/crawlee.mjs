/** Crawlee's CheerioCrawler and HttpCrawler, with all their slots from the start and results in the dataset on disk, the default. */
import { CheerioCrawler } from '@crawlee/cheerio';
import { Configuration, Dataset, HttpCrawler, log, RequestQueue } from '@crawlee/http';

log.setLevel(log.LEVELS.ERROR);

export async function open({ kind, site, atOnce, folder, wanted }) {
  const { fields, each, item } = wanted;
  let round = 0;
  return {
    async run({ from, count }) {
      round += 1;
      const config = new Configuration({
        persistStorage: true,
        storageClientOptions: { localDataDirectory: `${folder}/${process.pid}-${round}` },
        systemInfoV2: true,
      });
      const dataset = await Dataset.open(`r${round}`, { config });
      const queue = await RequestQueue.open(`q${round}`, { config });
      let items = 0;
      const settings = {
        requestQueue: queue,
        minConcurrency: atOnce,
        maxConcurrency: atOnce,
        maxRequestRetries: 0,
        useSessionPool: false,
      };
      const crawler =
        kind === 'cheerio'
          ? new CheerioCrawler(
              {
                ...settings,
                async requestHandler({ $, request }) {
                  const found = { url: request.url, ...read($, fields), items: [] };
                  for (const element of $(each).toArray()) found.items.push(read($, item, element));
                  items += found.items.length;
                  await dataset.pushData(found);
                },
              },
              config,
            )
          : new HttpCrawler(
              {
                ...settings,
                async requestHandler({ request, body }) {
                  items += 1;
                  await dataset.pushData({ url: request.url, bytes: body.length });
                },
              },
              config,
            );
      const requests = Array.from({ length: count }, (_, n) => ({ url: `${site}/product/${from + n}` }));
      await queue.addRequests(requests);
      const began = performance.now();
      const stats = await crawler.run();
      const ms = performance.now() - began;
      const { itemCount } = await dataset.getInfo();
      if (stats.requestsFinished !== count || itemCount !== count)
        throw new Error(`${kind}: ${stats.requestsFinished} of ${count} pages, ${itemCount} stored`);
      await dataset.drop();
      await queue.drop();
      return { ms, items };
    },
  };
}

function read($, names, root) {
  return Object.fromEntries(
    Object.entries(names).map(([name, [css, attr]]) => {
      const element = $(css, root).first();
      return [name, attr === undefined ? element.text().replace(/\s+/g, ' ').trim() : element.attr(attr)];
    }),
  );
}
