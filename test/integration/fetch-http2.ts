/** HTTP/2 as a scraper fetches it: a worker of its own process, a site that offers both, and what the site saw. */
import t from 'tap';
import { writeFileSync, mkdirSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createClient } from '../../src/client/client.ts';
import { listen, makeCertificate } from '../kit/http-world.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { startSmallCluster } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

const SCRAPER = `
  export const scraper = {
    name: 'pages',
    async run({ input, fetch, emit }) {
      const page = await fetch(input.url, input.options);
      emit({ status: page.status, text: page.text(), url: page.url, redirects: page.redirects.length });
    },
  };`;
const TASKS = 12;

interface Seen {
  readonly path: string;
  readonly version: string;
  readonly userAgent: string;
}

t.test(
  'a handler fetches over HTTP/2, page after page on one connection; and over HTTP/1.1 if it says so',
  async (t) => {
    const certificate = makeCertificate();
    const seen: Seen[] = [];
    const sessions = new Set<unknown>();
    const site = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
      const path = request.url;
      seen.push({ path, version: request.httpVersion, userAgent: String(request.headers['user-agent']) });
      if (path === '/moved') {
        response.writeHead(302, { location: '/there' }).end();
        return;
      }
      if (path.startsWith('/one')) sessions.add(request.stream.session);
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(`${request.method} ${path} over ${request.httpVersion}`));
    });
    const port = await listen(t, site);
    const origin = `https://127.0.0.1:${port}`;

    const folder = temporaryFolder(t);
    mkdirSync(join(folder, 'scrapers'));
    writeFileSync(join(folder, 'scrapers/pages.mjs'), SCRAPER);
    writeFileSync(join(folder, 'ca.pem'), certificate.cert);
    const cluster = await startSmallCluster(t, { 'fetch.robots': 'false', 'egress.jitter': '0' });
    await cluster.start('coordinator', 'c1');
    await cluster.start('proxy-manager', 'pm1');
    const trawl = await installTrawl(t, {
      NATS_URL: cluster.server.url,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      TRAWL_WORKER_SCRAPERS: join(folder, 'scrapers'),
      TRAWL_WORKER_CONCURRENCY: String(TASKS),
      TRAWL_FETCH_HTTP2: 'true',
      TRAWL_FETCH_ROBOTS: 'false',
      TRAWL_FETCH_CONNECTIONS_MAX: '1',
      TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${port}`,
    });
    trawl.start('worker', '--id', 'w1');
    const client = createClient(cluster.connection, { names: cluster.names, durability: 'interval' });
    const fetchAll = async (run: string, inputs: readonly object[]): Promise<unknown[]> => {
      await client.run(
        'pages',
        inputs.map((input, n) => ({ key: `${n}`, input: { ...input } })),
        { run },
      );
      const items = new Map<string, unknown>();
      for await (const { key, items: found, error } of client.results(run, { timeoutMs: 60_000 }))
        items.set(key ?? '', error ?? found[0]);
      return inputs.map((_, n) => items.get(`${n}`));
    };

    const paths = Array.from({ length: TASKS }, (_, n) => `/one?n=${n}`);
    t.same(
      await fetchAll(
        'crowd',
        paths.map((path) => ({ url: `${origin}${path}` })),
      ),
      paths.map((path) => ({
        status: 200,
        text: `GET ${path} over 2.0`,
        url: `${origin}${path}`,
        redirects: 0,
      })),
    );
    t.equal(sessions.size, 1, 'on one connection');

    t.match(
      await fetchAll('kinds', [
        { url: `${origin}/moved` },
        { url: `${origin}/old`, options: { http2: false } },
        { url: `${origin}/form`, options: { method: 'POST', body: 'a=1' } },
      ]),
      [
        { text: 'GET /there over 2.0', redirects: 1 },
        { text: 'GET /old over 1.1' },
        { text: 'POST /form over 2.0' },
      ],
    );
    t.same(
      seen.filter(({ version }) => version !== '2.0').map(({ path }) => path),
      ['/old'],
      'all others over HTTP/2',
    );
    t.ok(
      seen.every(({ userAgent }) => userAgent === 'trawl'),
      'the same headers either way',
    );
  },
);
