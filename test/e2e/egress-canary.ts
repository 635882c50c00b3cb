/**
 * Canaries: passwords and cookies that are known by heart go through a whole cluster, with everything that can go wrong on
 * the way. Then whatever the cluster wrote or said is searched for them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MsgHdrs } from '@nats-io/nats-core';
import t from 'tap';
import { startFakeTor } from '../../src/demo-site/fake-tor.ts';
import { Secret } from '../../src/domain/secret.ts';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import type { ActorRow } from '../../src/policy/actor-rows.ts';
import { decode } from '../../src/wire/codec.ts';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { quietLog, temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { installTrawl, type Program } from '../kit/trawl.ts';

const USER = 'customer';
const CANARIES = {
  password: 'canaryTweetyOfTheProxy',
  refused: 'canarySylvesterWithoutEntry',
  cookie: 'canaryPipInTheCookie',
  header: 'canaryJoeInTheHeader',
  control: 'canaryBillAtTheControls',
};

/** As they are, and as they may hide: a login goes over the wire as base64. */
const HIDDEN = Object.values(CANARIES).flatMap((canary) => [
  canary,
  Buffer.from(`${USER}:${canary}`).toString('base64').slice(4, -4),
  Buffer.from(canary).toString('base64').slice(0, -4),
  Buffer.from(canary).toString('hex'),
]);

/** What is found, and where. */
function findCanaries(place: string, content: string | Uint8Array): string[] {
  const bytes = Buffer.from(content as string);
  return HIDDEN.filter((canary) => bytes.includes(canary)).map((canary) => `${canary} in ${place}`);
}

const SCRAPER = `
const at = (url) => new URL(url).origin;
export const scraper = {
  name: 'spy',
  mode: 'distributed',
  robots: false,
  egress: { via: 'proxy', session: true },
  isSessionValid: (session) => session.headers['x-key'] !== undefined,
  refreshSession({ session }) {
    session.setHeaders({ 'x-key': '${CANARIES.header}' });
    session.setCookie('sid=${CANARIES.cookie}', SITE);
  },
  async run({ url, fetch, emit }) {
    const page = await fetch(url);
    if (url.includes('mine')) throw new Error('the handler fails');
    emit({ status: page.status, from: at(url) });
  },
};
`;

async function connect(t: Teardown, trawl: Program): Promise<Connection> {
  const password = new Secret(readFileSync(join(trawl.home, 'secrets/app.password'), 'utf8').trim());
  const connection = await connectNats({
    access: { url: [`nats://127.0.0.1:${trawl.portBase}`], user: 'trawl', password },
    name: 'canary',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());
  return connection;
}

/** Everything that anybody says, but for what a person says in clear to bring the secret along. */
function overhear({ nc }: Connection): { said(): number; found(): string[] } {
  const found: string[] = [];
  let said = 0;
  nc.subscribe('>', {
    callback: (_error, { subject, data, headers }) => {
      if (subject === 'trawl.ctl.proxies.add') return;
      said += 1;
      found.push(...findCanaries(`message on ${subject}`, data), ...findCanaries(subject, textOf(headers)));
    },
  });
  return { said: () => said, found: () => found };
}

function textOf(headers: MsgHdrs | undefined): string {
  return headers
    ? headers
        .keys()
        .map((key) => `${key}: ${headers.values(key).join()}`)
        .join('\n')
    : '';
}

async function searchStreams({ js, jsm }: Connection): Promise<{ messages: number; found: string[] }> {
  const found: string[] = [];
  let messages = 0;
  for await (const { config, state } of jsm.streams.list()) {
    if (state.messages === 0) continue;
    const consumer = await js.consumers.get(config.name, { deliver_policy: 'all' as never });
    for await (const message of await consumer.consume()) {
      const place = `${config.name} ${message.subject}`;
      found.push(...findCanaries(place, message.data), ...findCanaries(place, textOf(message.headers)));
      found.push(...findCanaries(`${place}, decoded`, readable(message.data)));
      messages += 1;
      if (message.info.pending === 0) break;
    }
  }
  return { messages, found };
}

function readable(data: Uint8Array): string {
  try {
    return JSON.stringify(decode(data));
  } catch {
    return '';
  }
}

function searchFolder(folder: string): { files: number; found: string[] } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const found = files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return findCanaries(path, readFileSync(path));
  });
  return { files: files.length, found };
}

t.test('no secret is written or said anywhere', { timeout: 180_000 }, async (t) => {
  const site = await openDemoSite(t);
  const scrapers = temporaryFolder(t);
  writeFileSync(join(scrapers, 'spy.js'), SCRAPER.replace('SITE', JSON.stringify(site.url)));
  const trawl = await installTrawl(t, {
    WORKERS: '2',
    TRAWL_LOG_LEVEL: 'debug',
    TRAWL_WORKER_SCRAPERS: scrapers,
    TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${site.port}`,
    TRAWL_FETCH_TIMEOUT: '2s',
    TRAWL_FETCH_CONNECT_TIMEOUT: '1s',
    TRAWL_TASKS_RETRIES: '1',
    TRAWL_TASKS_RETRY_BASE: '100ms',
    TRAWL_EGRESS_PROBE_URL: `${site.url}/health`,
    TRAWL_EGRESS_PROBE_INTERVAL: '2s',
    TRAWL_EGRESS_PROBE_TIMEOUT: '1s',
  });
  await trawl.json('up');
  const connection = await connect(t, trawl);
  const ears = overhear(connection);

  const credentials = { username: USER, password: CANARIES.password };
  const good = await openFakeProxy(t, { kind: 'http', credentials });
  const socks = await openFakeProxy(t, { kind: 'socks5', credentials });
  const flapping = await openFakeProxy(t, { kind: 'http', behaviour: { flap: 0.5, seed: 7 }, credentials });
  const tor = await startFakeTor({ addresses: ['127.0.0.1'], password: CANARIES.control });
  t.teardown(() => tor.close());
  const wrong = `http://${USER}:${CANARIES.refused}@127.0.0.1:${good.port}`;
  for (const [id, url] of Object.entries({ good: good.url, socks: socks.url, flapping: flapping.url, wrong }))
    await trawl.json('proxies', 'add', url, '--id', id, '--per-hour', '0');
  const control = `tcp://:${CANARIES.control}@127.0.0.1:${tor.controlPort}`;
  await trawl.json('proxies', 'add', tor.socksUrl, '--id', 'tor', '--control', control);
  const misspelt = await trawl.run('proxies', 'add', `ftp://${USER}:${CANARIES.password}@127.0.0.1:1`);
  t.equal(misspelt.code, 2);

  const paths = [
    'status/500',
    'reset',
    'truncated',
    'bad-http',
    'endless',
    'hang',
    'mine',
    'redirect-loop/a',
  ];
  const urls = [
    ...paths.map((path) => `${site.url}/${path}`),
    ...Array.from({ length: 30 }, (_, n) => `${site.url}/product/${n + 1}`),
    'http://169.254.169.254/latest/',
  ];
  const list = join(scrapers, 'urls.txt');
  writeFileSync(list, urls.join('\n'));
  const began = performance.now();
  const run = await trawl.run('run', 'spy', '--urls-file', list, '--run-id', 'canary', '--wait');
  t.equal(run.code, 4, `it has dead tasks: ${run.stderr}`);

  t.comment(`the run took ${Math.round(performance.now() - began)} ms`);

  // The birds were there, or nothing is proven.
  t.ok(
    site.log.some(({ cookie }) => cookie?.includes(CANARIES.cookie)),
    'the cookie came to the site',
  );
  t.ok(
    site.log.some(({ rawHeaders }) => rawHeaders.includes(CANARIES.header)),
    'so did the header',
  );
  t.strictSame(findCanaries('here', `x${CANARIES.control}x`), [`${CANARIES.control} in here`]);
  t.ok(good.log.length > 0 && socks.log.length > 0, 'the proxies were used');

  const found: string[] = [];
  const search = (place: string, { code, stdout, stderr }: Awaited<ReturnType<Program['run']>>): string => {
    t.equal(code, 0, `${place} works: ${stderr}`);
    found.push(...findCanaries(place, stdout), ...findCanaries(place, stderr));
    return stdout;
  };
  found.push(...findCanaries('trawl run', run.stdout + run.stderr));
  found.push(...findCanaries('trawl proxies add', misspelt.stdout + misspelt.stderr));
  for (const words of [
    ['proxies', 'ls', '--json'],
    ['proxies', 'show', 'wrong'],
    ['proxies', 'show', 'wrong', '--json'],
    ['proxies', 'show', 'tor', '--json'],
    ['hosts', 'ls', '--json'],
    ['status', '--json'],
    ['doctor', '--json'],
  ])
    search(words.join(' '), await trawl.run(...words));
  const sessions = search('sessions ls', await trawl.run('sessions', 'ls', '--json'));
  const [session] = (JSON.parse(sessions) as { sessions: { id: string }[] }).sessions;
  search('sessions show', await trawl.run('sessions', 'show', session?.id ?? '', '--json'));
  const dead = search('dead ls', await trawl.run('dead', 'ls', '--run', 'canary', '--json'));
  const ids = [...new Set(dead.match(/"task":\s*"[^"]+"|"id":\s*"[^"]+"/g) ?? [])];
  t.ok(ids.length > 3, `dead tasks to look at: ${dead.slice(0, 300)}`);
  for (const id of ids.slice(0, 2).map((text) => text.split('"')[3] ?? '')) {
    search('dead show', await trawl.run('dead', 'show', id, '--run', 'canary', '--json'));
    search('why', await trawl.run('why', id, '--run', 'canary'));
  }
  const { actors } = JSON.parse((await trawl.run('status', '--json')).stdout) as { actors: ActorRow[] };
  for (const { page, id } of actors.filter(({ role }) => role !== 'nats'))
    for (const path of ['metrics', 'healthz', 'readyz'])
      found.push(...findCanaries(`/${path} of ${id}`, await (await fetch(`${page ?? ''}/${path}`)).text()));

  const streams = await searchStreams(connection);
  t.ok(streams.messages > urls.length, `${streams.messages} messages were read`);
  t.ok(ears.said() > urls.length, `${ears.said()} messages were overheard`);
  await connection.close();
  search('down', await trawl.run('down'));
  const disk = searchFolder(trawl.home);
  t.ok(disk.files > 20, `${disk.files} files were searched`);
  t.ok(readdirSync(join(trawl.home, 'logs')).length > 5, 'all actors have logs, which are among them');
  t.strictSame([...new Set([...found, ...streams.found, ...ears.found(), ...disk.found])], []);
});
