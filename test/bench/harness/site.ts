/**
 * A site as a process of its own: product pages of the demo site, written out before anybody asks, so that it costs
 * little. With `?after=600` a page takes so many ms.
 */
import { createServer } from 'node:http';
import { renderProductPage } from '../../../src/demo-site/product-page.ts';
import { createProducts } from '../../../src/demo-site/products.ts';

const PAGES = 500;

export async function open(): Promise<{
  where: () => { port: number; bytes: number };
  served: () => number;
}> {
  const products = createProducts({ seed: 1, count: PAGES });
  const pages = Array.from({ length: PAGES }, (_, index) => {
    const product = products.find(index + 1);
    // Every list item and paragraph has its end tag: all parsers find the same in it.
    const html = product ? renderProductPage(products, product) : '';
    return Buffer.from(html.replaceAll('&hellip;\n', '&hellip;</p></li>\n'));
  });
  let served = 0;
  const server = createServer((request, response) => {
    const [, number, afterMs] = /^\/product\/(\d+)(?:\?after=(\d+))?/.exec(request.url ?? '') ?? [];
    const page = number === undefined ? undefined : pages[Number(number) % PAGES];
    if (!page) {
      response.writeHead(404, { 'content-length': 0 }).end();
      return;
    }
    served += 1;
    const answer = (): unknown =>
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length })
        .end(page);
    if (afterMs === undefined) answer();
    else setTimeout(answer, Number(afterMs));
  });
  // Longer than a bench: no connection that somebody has kept is closed just when he uses it again.
  server.keepAliveTimeout = 3_600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { where: () => ({ port, bytes: pages[0]?.length ?? 0 }), served: () => served };
}
