/** `trawl demo-site`: a local site to try scrapers on, and fake proxies in front of it. */
import { once } from 'node:events';
import { startFakeProxy, type FakeProxy } from '../../demo-site/fake-proxy.ts';
import { PLACES } from '../../demo-site/places.ts';
import { API_KEY, API_SECRET } from '../../demo-site/signature.ts';
import { startDemoSite, type DemoSite } from '../../demo-site/site.ts';
import { demoSitePort } from '../../local/layout.ts';
import { readText, readWhole } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderTable } from '../table.ts';

/** Each has a loopback address of its own, from 127.0.0.2 on. */
const PROXIES_MAX = 200;
const PORTS = { min: 0, max: 65_535 };

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const httpsPort = readWhole(argv, 'https-port', PORTS);
  const proxyCount = readWhole(argv, 'proxies', { min: 0, max: PROXIES_MAX }) ?? 0;
  const stop = context.interrupts();
  const site = await startDemoSite({
    seed: readWhole(argv, 'seed', { min: 0, max: 1e9 }) ?? 1,
    port: readWhole(argv, 'port', PORTS) ?? demoSitePort(context.config.local.portBase),
    host: readText(argv, 'host') ?? '127.0.0.1',
    products: readWhole(argv, 'products', { min: 1, max: 1e8 }) ?? 1000,
    ...(httpsPort === undefined ? {} : { tls: { fault: 'self-signed', port: httpsPort } }),
  });
  const proxies: FakeProxy[] = [];
  try {
    for (let number = 1; number <= proxyCount; number += 1) proxies.push(await startProxy(site, number));
    site.offerProxies(proxies.map(({ url }) => url));
    output.result(tell(site, proxies), describe(site, proxies));
    if (!stop.aborted) await once(stop, 'abort');
  } finally {
    await Promise.all([site, ...proxies].map((part) => part.close()));
  }
  return EXIT.ok;
}

async function startProxy(site: DemoSite, number: number): Promise<FakeProxy> {
  const outAddress = `127.0.0.${number + 1}`;
  site.nameAddress(outAddress, `proxy-${number}`);
  return startFakeProxy({
    kind: number % 2 === 1 ? 'http' : 'socks5',
    credentials: { username: `proxy-${number}`, password: 'demo' },
    outAddress,
    // Every name leads to the site, so that a crawl of many hosts can be tried.
    elsewhere: { host: '127.0.0.1', port: site.port },
  });
}

function tell(site: DemoSite, proxies: readonly FakeProxy[]): object {
  return {
    url: site.url,
    https: site.https?.url ?? null,
    seed: site.products.seed,
    products: site.products.count,
    login: { user: 'demo', password: 'demo' },
    api: { key: API_KEY, secret: API_SECRET },
    proxies: proxies.map(({ url, kind, outAddress }) => ({ url, kind, outAddress: outAddress ?? null })),
    places: PLACES,
  };
}

function describe(site: DemoSite, proxies: readonly FakeProxy[]): string {
  const lines = [
    `The demo site is at ${site.url}${site.https ? ` and ${site.https.url} (self-signed)` : ''}; Ctrl-C ends it.`,
    '',
    renderTable(
      ['PATH', 'WHAT'],
      PLACES.map(({ path, what }) => [path, what]),
    ),
    '',
    `Login: demo, demo. Signed requests: key ${API_KEY}, secret ${API_SECRET}; the signature is the HMAC-SHA256 in hex`,
    'of method + path with query + body + x-sign-date (epoch seconds).',
  ];
  if (proxies.length > 0) {
    lines.push(
      '',
      `Proxies; \`curl -s ${site.url}/__proxies | trawl proxies import -\` makes them known:`,
      '',
    );
    lines.push(...proxies.map(({ url }) => url));
  }
  return lines.join('\n');
}
