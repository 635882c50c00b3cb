/**
 * The page of one product, about 10 KB: prices and dates in several spellings, a list of 20 reviews, images, data in
 * attributes, in JSON-LD and in text, entities, and tags that nobody closed.
 */
import { escapeHtml, renderPage } from './html.ts';
import { writeDates, writePrices, type Product, type Products } from './products.ts';
import { seeded, type Seeded } from './seeded.ts';

const REVIEWS = 20;
const WORDS =
  'it arrived in two days and works as described though the colour is warmer than on the picture my sister wants one too packaging was fine instructions less so would buy again at this price perhaps'.split(
    ' ',
  );

export function renderProductPage(products: Products, product: Product): string {
  const random = seeded(products.seed, 'page', product.id);
  return renderPage({
    title: product.name,
    head: `<link rel="canonical" href="/product/${product.id}">
<meta property="og:title" content="${escapeHtml(product.name)}">
<script type="application/ld+json">${JSON.stringify(linkedData(product))}</script>`,
    body: `<main itemscope itemtype="https://schema.org/Product">
<ol class="crumbs"><li><a href="/">Home</a><li><a href="/catalogue?category=${product.category}">${product.category}</a><li>${escapeHtml(product.name)}</ol>
${summary(product)}
${gallery(product)}
<section id="reviews"><h2>Reviews (${product.reviewCount})</h2><ul class="reviews">
${Array.from({ length: REVIEWS }, (_, index) => review(random, product, index)).join('\n')}
</ul></section>
${related(random, products, product)}
</main>`,
  });
}

function linkedData(product: Product): object {
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    sku: `SKU-${product.id}`,
    name: product.name,
    brand: product.brand,
    offers: { price: writePrices(product.cents).plain, priceCurrency: 'USD', inStock: product.inStock },
    aggregateRating: { ratingValue: product.rating, reviewCount: product.reviewCount },
  };
}

function summary(product: Product): string {
  const price = writePrices(product.cents);
  const date = writeDates(product.releasedAt);
  return `<h1 itemprop="name">${escapeHtml(product.name)}</h1>
<p class=brand>by <b itemprop=brand>${escapeHtml(product.brand)}</b>
<div class="offer" data-id="${product.id}" data-price="${price.plain}">
<span class="price">${price.us}</span> <span class="price-de">${price.de}</span> <span class="price-fr">${price.fr}</span>
<span class="price-ch">${price.ch}</span> <span class="price-jp">${price.jp}</span><br>
<del class="price-old">was ${writePrices(Math.ceil(product.cents * 1.2)).us}</del>
<p class="stock ${product.inStock ? 'in' : 'out'}">${product.inStock ? 'In stock &ndash; ships today' : 'Sold&nbsp;out'}
</div>
<p class="rating" data-rating="${product.rating}">${'&#9733;'.repeat(Math.floor(product.rating))} ${product.rating.toFixed(1)}/5
<table class="facts"><tr><th>Released<td><time datetime="${date.iso}">${date.long}</time>
<tr><th>Date (US)<td class="date-us">${date.us}<tr><th>Date (EU)<td class="date-eu">${date.de}
<tr><th>Weight<td class="weight">${(product.weightGrams / 1000).toFixed(2).replace('.', ',')} kg
<tr><th>SKU<td class="sku">SKU-${product.id}</table>`;
}

function gallery({ id, name }: Product): string {
  const images = [1, 2, 3].map(
    (part) =>
      `<img src="/assets/p${id}-${part}.jpg" data-src='/assets/p${id}-${part}-large.jpg' srcset="/assets/p${id}-${part}.jpg 1x, /assets/p${id}-${part}@2x.jpg 2x" alt="${escapeHtml(name)} ${part}">`,
  );
  return `<div class="gallery">${images.join('\n')}</div>`;
}

function review(random: Seeded, { id }: Product, index: number): string {
  const day = new Date(Date.UTC(2025, 0, 1 + random.int(0, 500))).toISOString().slice(0, 10);
  const words = Array.from({ length: random.int(18, 34) }, () => WORDS[random.int(0, WORDS.length - 1)]);
  const stars = random.int(1, 5);
  return `<li class="review" id="r${id}-${index + 1}"><b class="author">user_${random.int(1, 9999)}</b> <span class=stars data-stars=${stars}>${stars}&#x2605;</span> <time datetime="${day}">${writeDates(day).long}</time><p>${words.join(' ')}&hellip;`;
}

function related(random: Seeded, { count }: Products, { id }: Product): string {
  const links = Array.from({ length: 6 }, () => random.int(1, count))
    .filter((other) => other !== id)
    .map((other) => `<li><a href="/product/${other}">Product ${other}</a>`);
  return `<aside><h3>Others also looked at</h3><ul class="related">${links.join('')}</ul></aside>`;
}
