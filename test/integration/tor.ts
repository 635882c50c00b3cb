/** Tor as egress, played by a local stand-in: what counts is the address from which the site was asked. */
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startFakeTor, type FakeTor, type FakeTorOptions } from '../../src/demo-site/fake-tor.ts';
import type { Page } from '../../src/scrapers/page.ts';
import { browsersHere, CAN_SANDBOX, needChromium } from '../kit/chromium.ts';
import { claimPorts } from '../kit/claim-ports.ts';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { itemsOf, task, visitor } from '../kit/visitor.ts';

const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
const keyFile = join(temporaryFolder(t), 'key');
writeFileSync(keyFile, 'k'.repeat(32), { mode: 0o600 });
const FLAGS = { 'fetch.robots': 'false', 'egress.key': `file:${keyFile}` };

async function openTor(t: Teardown, options: Partial<FakeTorOptions> = {}): Promise<FakeTor> {
  const tor = await startFakeTor({ addresses: ADDRESSES, ...options });
  t.teardown(() => tor.close());
  return tor;
}

const isUnwelcome = (page: Page): 'blocked' | undefined =>
  /"ip":"127\.0\.0\.2"/.test(page.text()) ? 'blocked' : undefined;

t.test('not welcome: another address at once, also for connections that stood', async (t) => {
  const other = await openDemoSite(t);
  const world = await openFetchWorld(t, { flags: FLAGS, allow: [other] });
  const tor = await openTor(t, { password: 'pass "word"' });
  const control = `tcp://:${encodeURIComponent('pass "word"')}@127.0.0.1:${tor.controlPort}`;
  await world.call('proxies.add', { url: tor.socksUrl, id: 'tor', control, machine: hostname() });
  await world.start([
    visitor(),
    visitor({ name: 'picky', retries: 0, egress: { via: 'proxy' }, classify: isUnwelcome }),
  ]);
  const before = await world.settle([task('a', `${other.url}/ip`)]);
  t.match(itemsOf(before.get('a')), [{ egress: 'tor', text: '{"ip":"127.0.0.2"}' }]);
  const blocked = await world.settle([{ ...task('b', `${world.site.url}/ip`), scraper: 'picky' }]);
  t.match(blocked.get('b'), { state: 'dead', error: { code: 'PROXY', message: /no proxy is left/ } });
  await world.until(() => tor.rotations() === 1);
  await world.until(() => tor.sockets() <= 2);
  const after = await world.settle([task('c', `${other.url}/ip`)]);
  t.match(itemsOf(after.get('c')), [{ text: '{"ip":"127.0.0.3"}' }], 'not over the old connection');

  // The manager keeps the pair closed for a while; a person opens it.
  await world.call('hosts.open', { host: `127.0.0.1:${world.site.port}` });
  const again = await world.settle([{ ...task('d', `${world.site.url}/ip`), scraper: 'picky' }]);
  t.match(itemsOf(again.get('d')), [{ egress: 'tor', text: '{"ip":"127.0.0.3"}' }]);
  t.equal(tor.rotations(), 1);
});

t.test('a session that is over leaves with its address', async (t) => {
  const world = await openFetchWorld(t, { flags: FLAGS });
  const tor = await openTor(t);
  const control = `127.0.0.1:${tor.controlPort}`;
  await world.call('proxies.add', { url: tor.socksUrl, id: 'tor', control });
  const seen = new Set<string>();
  let burnt: ReadonlySet<string> = new Set();
  await world.start([
    visitor({
      egress: { session: true },
      isSessionValid({ id }) {
        seen.add(id);
        return !burnt.has(id);
      },
    }),
  ]);
  const first = await world.settle([task('a', `${world.site.url}/ip`)]);
  t.match(itemsOf(first.get('a')), [{ text: '{"ip":"127.0.0.2"}' }]);
  burnt = new Set(seen);
  const second = await world.settle([task('b', `${world.site.url}/ip`)], 20_000);
  t.equal(tor.rotations(), 1);
  t.match(itemsOf(second.get('b')), [{ text: '{"ip":"127.0.0.3"}' }]);
});

t.test(
  'a port for each: workers of one machine do not share one, nor do slots that want their own',
  async (t) => {
    const world = await openFetchWorld(t, { flags: FLAGS });
    const base = await openPorts(t, 4);
    const added = await world.call('proxies.add', {
      url: `socks5://127.0.0.1:${base}-${base + 3}`,
      id: 'tor',
      machine: hostname(),
      perHour: 0,
    });
    const ids = [0, 1, 2, 3].map((n) => `tor-${base + n}`);
    t.same(
      (added as { proxies: { id: string }[] }).proxies.map(({ id }) => id),
      ids,
    );
    ids.forEach((id, n) => world.site.nameAddress(`127.0.0.${n + 2}`, id));

    const tellsWho = (name: string, exclusive: boolean): Parameters<typeof world.start>[0] => [
      visitor({
        egress: { exclusive },
        async run({ fetch, input, emit }) {
          const { egress } = await fetch(String(input['url']), { headers: { 'x-worker': name } });
          emit({ egress });
        },
      }),
    ];
    const one = await world.start(tellsWho('one', false), { concurrency: 4 });
    const two = await world.start(tellsWho('two', false), { concurrency: 4 });
    const many = Array.from({ length: 40 }, (_, n) => task(`k${n}`, `${world.site.url}/slow?ms=40&n=${n}`));
    await world.settle(many, 30_000);
    const users = new Map<string, Set<string>>();
    for (const { egress, startMs, endMs = Infinity, rawHeaders } of world.site.log) {
      const who = rawHeaders[rawHeaders.findIndex((each) => each === 'x-worker') + 1] ?? '';
      const overlapping = world.site.log.filter(
        (record) =>
          record.egress === egress && record.startMs < endMs && (record.endMs ?? Infinity) > startMs,
      );
      const names = overlapping.map(
        (record) => record.rawHeaders[record.rawHeaders.findIndex((each) => each === 'x-worker') + 1] ?? '',
      );
      t.same([...new Set(names)], [who], `${egress} is used by ${who} alone`);
      users.set(who, (users.get(who) ?? new Set()).add(egress));
    }
    t.same([...users.keys()].sort(), ['one', 'two'], 'both had a way');
    for (const worker of [one, two]) {
      worker.quiet();
      await worker.ended;
    }

    world.site.reset();
    await world.start(tellsWho('slots', true), { concurrency: 3 });
    await world.settle(many, 30_000);
    t.equal(world.site.seen.maxConcurrent({ by: 'egress' }), 1, 'one task at a time on each');
    t.ok(world.site.seen.maxConcurrent() > 1, 'side by side');
  },
);

const path = needChromium(t);
if (path !== undefined) {
  t.test('the browser goes the new way too', async (t) => {
    const other = await openDemoSite(t);
    const flags = { ...FLAGS, 'browser.path': path, 'browser.sandbox': String(CAN_SANDBOX) };
    const world = await openFetchWorld(t, { flags, allow: [other] });
    const tor = await openTor(t);
    const control = `127.0.0.1:${tor.controlPort}`;
    await world.call('proxies.add', { url: tor.socksUrl, id: 'tor', control });
    const egress = { session: true };
    await world.start([
      visitor({ engine: 'browser', egress }),
      visitor({ name: 'picky', engine: 'browser', retries: 0, classify: isUnwelcome }),
    ]);
    const before = await world.settle([task('a', `${other.url}/ip`)]);
    t.match(itemsOf(before.get('a')), [{ text: '{"ip":"127.0.0.2"}' }]);
    await world.settle([{ ...task('b', `${world.site.url}/ip`), scraper: 'picky' }]);
    await world.until(() => tor.rotations() === 1);
    const after = await world.settle([task('c', `${other.url}/ip`)]);
    t.match(itemsOf(after.get('c')), [{ text: '{"ip":"127.0.0.3"}' }]);
    t.equal(browsersHere().length, 1);
  });
}

/** Neighbouring ports, each a proxy with an address of its own; the first one's number. */
async function openPorts(t: Teardown, count: number): Promise<number> {
  const base = await claimPorts(t);
  for (let n = 0; n < count; n += 1)
    await openFakeProxy(t, { kind: 'socks5', outAddress: `127.0.0.${n + 2}`, port: base + n });
  return base;
}
