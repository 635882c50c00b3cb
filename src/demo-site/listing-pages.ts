/** The pages that lead to products: the front page, the catalogue and the site map. */
import { escapeHtml, renderPage } from './html.ts';
import { PLACES } from './places.ts';
import { writePrices, type Product, type Products } from './products.ts';

export const PAGE_SIZE = 20;

export function renderIndex(): string {
  const places = PLACES.map(
    ({ path, what }) => `<li><a href="${escapeHtml(path)}">${escapeHtml(path)}</a> ${escapeHtml(what)}`,
  );
  return renderPage({
    title: 'Welcome',
    body: `<h1>A site to try scrapers on</h1>\n<ul class="places">\n${places.join('\n')}\n</ul>`,
  });
}

/** Undefined when there is no such page. Pages count from 1. */
export function renderListing(products: Products, page: number): string | undefined {
  const pages = countPages(products);
  if (page < 1 || page > pages) return undefined;
  const first = (page - 1) * PAGE_SIZE + 1;
  const last = Math.min(page * PAGE_SIZE, products.count);
  const rows = [];
  for (let id = first; id <= last; id += 1) {
    const product = products.find(id);
    if (product) rows.push(row(product));
  }
  const next =
    page < pages ? `<a rel="next" class="next" href="/catalogue?page=${page + 1}">Next &raquo;</a>` : '';
  const back = page > 1 ? `<a rel="prev" href="?page=${page - 1}">&laquo; Back</a>` : '';
  return renderPage({
    title: `Catalogue, page ${page}`,
    body: `<h1>Catalogue</h1>
<p class="count">${first}&ndash;${last} of ${products.count}
<div class="featured"><a href="/product/${first}?utm_source=featured&amp;utm_medium=box#reviews">Our favourite</a></div>
<ul class="products">
${rows.join('\n')}
</ul>
<div class="pager">${back} <span class="page">${page} / ${pages}</span> ${next}</div>`,
  });
}

export function countPages({ count }: Products): number {
  return Math.max(1, Math.ceil(count / PAGE_SIZE));
}

function row({ id, name, cents, rating }: Product): string {
  return `<li class="product"><a href="/product/${id}"><img src="/assets/p${id}-1.jpg" alt=""> ${escapeHtml(name)}</a> <span class="price">${writePrices(cents).us}</span> <i class="rating">${rating}</i>`;
}

/** As many as one site map may hold. */
const SITEMAP_MAX = 50_000;

export function renderSitemap(products: Products, origin: string): string {
  const rows = [];
  for (let id = 1; id <= Math.min(products.count, SITEMAP_MAX); id += 1) {
    rows.push(`<url><loc>${escapeHtml(origin)}/product/${id}</loc></url>`);
  }
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${rows.join('\n')}
</urlset>
`;
}
