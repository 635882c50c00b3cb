/** The template that is shipped, on the pages of the demo site. */
import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderListing } from '../../src/demo-site/listing-pages.ts';
import { renderProductPage } from '../../src/demo-site/product-page.ts';
import { createProducts, writePrices } from '../../src/demo-site/products.ts';
import { depthAfter } from '../../src/domain/task.ts';
import { normalizeUrl } from '../../src/domain/url.ts';
import { projectRoot } from '../../src/project-root.ts';
import type { Page } from '../../src/scrapers/page.ts';
import type { ScraperContext } from '../../src/scrapers/scraper.ts';
import { loadTemplate } from '../../src/templates/template-scraper.ts';

const SITE = 'http://127.0.0.1:8080';
const file = 'config/scrapers/catalogue.yaml';
const scraper = loadTemplate(readFileSync(join(projectRoot, file), 'utf8'), file);
interface Request {
  readonly url: string;
  readonly input?: object;
  readonly continues?: boolean;
}

const products = createProducts({ seed: 5, count: 45 });

function fakePage(url: string): Page {
  const { pathname, searchParams } = new URL(url);
  const product = products.find(Number(/^\/product\/(\d+)$/.exec(pathname)?.[1]));
  const html = product
    ? renderProductPage(products, product)
    : (renderListing(products, Number(searchParams.get('page') ?? 1)) ?? '');
  const timing = { firstByteMs: 1, totalMs: 1 };
  const rest = { egress: 'direct', fromCache: false, notModified: false, redirects: [], timing };
  return {
    url,
    status: 200,
    headers: {},
    body: Buffer.from(html),
    text: () => html,
    json: () => null,
    ...rest,
  };
}

async function runTask(
  url: string,
  input = {},
  depth = 0,
): Promise<{ items: unknown[]; requests: Request[]; data: unknown }> {
  const items: unknown[] = [];
  const requests: Request[] = [];
  const context = {
    url,
    input,
    task: { run: 'r', depth },
    fetch: async (given: string) => fakePage(given),
    emit: (kind: string, item: object) => void items.push({ kind, ...item }),
    enqueue: (given: readonly Request[]) => ({ enqueued: requests.push(...given) }),
  };
  const data = await scraper.run(context as unknown as ScraperContext);
  return { items, requests, data };
}

t.test('it goes through the whole catalogue, and takes each product once', async (t) => {
  const queue: (Request & { readonly depth: number })[] = [{ url: `${SITE}/catalogue`, depth: 0 }];
  const seen = new Set<string>();
  const items: { id: number }[] = [];
  for (let task = queue.shift(); task; task = queue.shift()) {
    const key = normalizeUrl(task.url);
    if (seen.has(key)) continue;
    seen.add(key);
    const done = await runTask(task.url, task.input, task.depth);
    items.push(...(done.items as { id: number }[]));
    for (const request of done.requests) queue.push({ ...request, depth: depthAfter(task, request) });
  }
  t.same(
    items.map(({ id }) => id).sort((a, b) => a - b),
    Array.from({ length: 45 }, (_, index) => index + 1),
  );
  t.equal(seen.size, 45 + 3);
});

t.test('a product is what the site knows about it', async (t) => {
  const product = products.find(7);
  if (!product) throw new Error('no product 7');
  const { items, data } = await runTask(`${SITE}/product/7`);
  t.match(data, { followed: 0, refused: {} });
  const [item] = items as Record<string, unknown>[];
  t.match(item, {
    kind: 'product',
    url: `${SITE}/product/7`,
    id: 7,
    name: product.name,
    brand: product.brand,
    price: { amount: product.cents / 100, currency: 'USD' },
    priceInEurope: { amount: Number(writePrices(product.cents).plain), currency: 'EUR' },
    inStock: product.inStock,
    rating: product.rating,
    released: product.releasedAt,
    releasedInUs: product.releasedAt,
    weightKg: Number((product.weightGrams / 1000).toFixed(2)),
    sku: 7,
    images: [1, 2, 3].map((part) => `${SITE}/assets/p7-${part}-large.jpg`),
  });
  t.equal((item?.['reviews'] as unknown[]).length, 20);
  t.match(item?.['reviews'], [
    { id: 'r7-1', author: /^user_\d+$/, stars: Number, date: /^2025-|^2026-/, text: /…$/ },
  ]);
});

t.test('a listing yields links and no items', async (t) => {
  const { items, requests } = await runTask(`${SITE}/catalogue?page=2`, { page: 2 });
  t.same(items, []);
  t.equal(requests.length, 21);
  t.same(requests[0], {
    url: `${SITE}/product/21`,
    input: { rawUrl: `${SITE}/product/21?utm_source=featured&utm_medium=box#reviews` },
  });
  t.same(requests.at(-1), { url: `${SITE}/catalogue?page=3`, input: { page: 3 }, continues: true });
  const tracked = { page: 2, currency: 'EUR', rawUrl: `${SITE}/catalogue?page=2&utm_source=mail` };
  const again = await runTask(`${SITE}/catalogue?page=2`, tracked);
  t.same(
    again.requests.at(-1)?.input,
    { page: 3, currency: 'EUR' },
    'what was told goes on, but not the address that this page had',
  );
  await t.rejects(runTask(`${SITE}/elsewhere`), { code: 'INVALID', message: /has no page that matches/ });
});
