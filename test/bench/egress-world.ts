/** The world of the egress bench, as a process of its own: a demo site and fake proxies. Says where they are, as JSON. */
import { startFakeProxy } from '../../src/demo-site/fake-proxy.ts';
import { startDemoSite } from '../../src/demo-site/site.ts';

const [count = '100'] = process.argv.slice(2);
const site = await startDemoSite({ robots: { status: 404 } });
const proxies = await Promise.all(
  Array.from({ length: Number(count) }, () => startFakeProxy({ kind: 'http' })),
);
process.stdout.write(`${JSON.stringify({ url: site.url, proxies: proxies.map(({ url }) => url) })}\n`);
