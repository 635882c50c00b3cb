/** A page that is empty until its script has run: what it shows comes as JSON, and a cookie counts the visits. */
import type { Products } from '../products.ts';
import { renderPage } from '../html.ts';
import { pause, readNumber, sendHtml, sendJson, type Pages } from '../visit.ts';

const ROWS = 10;
const DELAY_MAX_MS = 60_000;

const SCRIPT = `<script>
const visits = 1 + Number((document.cookie.match(/visits=(\\d+)/) || [0, 0])[1]);
document.cookie = 'visits=' + visits + '; path=/';
fetch('/rendered/data' + location.search)
  .then((answer) => answer.json())
  .then(({ products }) => {
    const list = document.createElement('ul');
    list.className = 'products';
    for (const { id, name } of products) {
      const row = document.createElement('li');
      row.className = 'product';
      row.dataset.id = id;
      row.textContent = name;
      list.append(row);
    }
    document.querySelector('#shelf').replaceChildren(list);
    document.querySelector('#visits').textContent = visits;
  });
</script>`;

export function renderedPages(products: Products): Pages {
  const shell = renderPage({
    title: 'Rendered',
    body: `<h1>Rendered</h1><p>Visits: <b id="visits"></b><div id="shelf">Loading&hellip;</div>
<img src="/assets/p1-1.jpg" alt="">${SCRIPT}`,
  });
  return {
    async rendered(visit) {
      if (visit.rest !== 'data') {
        sendHtml(visit, shell);
        return;
      }
      const ms = readNumber(visit, 'ms', { fallback: 0, max: DELAY_MAX_MS });
      if (ms > 0 && !(await pause(visit, ms))) return;
      const found = Array.from({ length: ROWS }, (_, index) => products.find(index + 1));
      sendJson(visit, { products: found.flatMap((each) => (each ? { id: each.id, name: each.name } : [])) });
    },
  };
}
