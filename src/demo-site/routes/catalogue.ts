/** The shop: front page, catalogue, products, site map, robots.txt. */
import { renderIndex, renderListing, renderSitemap } from '../listing-pages.ts';
import { renderPage } from '../html.ts';
import { renderProductPage } from '../product-page.ts';
import type { Products } from '../products.ts';
import { remember } from '../rolling-limit.ts';
import { renderRobots, type Robots } from '../robots.ts';
import { readNumber, sendHtml, sendText, type Page, type Pages, type Visit } from '../visit.ts';

/** Pages that are kept ready; 10 KB each. */
const READY_MAX = 2_000;
const PIXEL = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');

export function cataloguePages(products: Products, robots: () => Robots): Pages {
  const index = Buffer.from(renderIndex());
  const ready = new Map<string, Buffer>();

  const renderProduct = (id: string): Buffer | undefined => {
    const kept = ready.get(id);
    if (kept) return kept;
    const product = products.find(/^[1-9]\d{0,8}$/.test(id) ? Number(id) : 0);
    if (!product) return undefined;
    const page = Buffer.from(renderProductPage(products, product));
    remember(ready, id, page, READY_MAX);
    return page;
  };

  const product: Page = (visit) => {
    const page = renderProduct(visit.rest);
    if (!page) {
      sendNotFound(visit);
      return;
    }
    const etag = `"product-${products.seed}-${visit.rest}"`;
    visit.response.setHeader('etag', etag);
    if (visit.request.headers['if-none-match'] === etag) sendHtml(visit, '', 304);
    else sendHtml(visit, page);
  };

  return {
    '': (visit) => sendHtml(visit, index),
    catalogue(visit) {
      const page = renderListing(products, Math.floor(readNumber(visit, 'page', { fallback: 1, max: 1e9 })));
      if (page === undefined) sendNotFound(visit);
      else sendHtml(visit, page);
    },
    product,
    assets({ response }) {
      response.writeHead(200, { 'content-type': 'image/gif', 'content-length': PIXEL.length });
      response.end(PIXEL);
    },
    private: (visit) =>
      sendHtml(visit, renderPage({ title: 'Private', body: '<p>robots.txt asked you not to come here.' })),
    'sitemap.xml'({ response, origin }) {
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(renderSitemap(products, origin));
    },
    'robots.txt'(visit) {
      const rules = robots();
      if ('status' in rules) sendText(visit, `no robots.txt: ${rules.status}`, rules.status);
      else sendText(visit, renderRobots(rules, visit.origin));
    },
  };
}

export function sendNotFound(visit: Visit): void {
  sendHtml(visit, renderPage({ title: 'Not found', body: '<h1>Not found</h1>' }), 404);
}
