/** The site of `trawl demo`: its own, one that runs already, and never something else. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import t from 'tap';
import { openSite } from '../../src/cli/demo/open-site.ts';
import { demoSitePort } from '../../src/local/layout.ts';
import { openDemoSite } from '../kit/demo-world.ts';

const CLIENT_PORT = 4222;
const OPTIONS = { products: 10 };
/** The port base whose demo site would listen at this port. */
const baseOf = (port: number): number => port - demoSitePort(CLIENT_PORT) + CLIENT_PORT;

t.test('its own, which knows what was asked for twice', async (t) => {
  const free = await openDemoSite(t);
  const { port } = free;
  await free.close();
  const site = await openSite({ ...OPTIONS, portBase: baseOf(port) });
  t.teardown(() => site.close());
  t.equal(site.url, `http://127.0.0.1:${port}`);
  for (const path of ['/product/1', '/product/2', '/product/1']) await fetch(`${site.url}${path}`);
  t.equal(site.askedTwice(), 1);
});

t.test('one that runs already is visited, and left running', async (t) => {
  const other = await openDemoSite(t);
  const site = await openSite({ ...OPTIONS, portBase: baseOf(other.port) });
  t.equal(site.url, other.url);
  await site.close();
  t.equal((await fetch(`${other.url}/health`)).status, 200);
});

t.test('what is no demo site is told', async (t) => {
  const server = createServer((_, response) => void response.writeHead(404).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const { port } = server.address() as { port: number };
  await t.rejects(openSite({ ...OPTIONS, portBase: baseOf(port) }), {
    code: 'CONFLICT',
    message: /no demo site/,
  });
});
