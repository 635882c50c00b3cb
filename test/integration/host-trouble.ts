/** Hosts in trouble: a crowd that is told to slow down together, and a target that no proxy reaches. */
import t from 'tap';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { task, visitor } from '../kit/visitor.ts';

interface HostView {
  readonly state: string;
  readonly adaptiveDelayMs: number;
  readonly closure?: { readonly reason: string };
}

const many = (count: number, url: string): ReturnType<typeof task>[] =>
  Array.from({ length: count }, (_, n) => task(`k${n}`, `${url}${n}`));

t.test('four that are told to slow down at once slow the host down once', { timeout: 60_000 }, async (t) => {
  const world = await openFetchWorld(t, { flags: { 'fetch.robots': 'false' } });
  await world.start([visitor()], { concurrency: 4 });
  const settling = world.settle(many(40, `${world.site.url}/busy?times=4&retry=1&n=`), 45_000);
  await world.site.until(({ status }) => status === 200);
  const host = await world.call('hosts.show', { host: `127.0.0.1:${world.site.port}` });
  t.equal((host as HostView).adaptiveDelayMs, 1_000, 'four answers, one lesson');
  const outcomes = await settling;
  t.strictSame(
    [...outcomes.values()].filter(({ state }) => state !== 'done'),
    [],
  );
  const { log } = world.site;
  const busy = log.filter(({ status }) => status === 503).length;
  t.equal(busy, 4, 'nobody came while it was closed');
  const tookMs = (log.at(-1)?.startMs ?? 0) - (log[0]?.startMs ?? 0);
  // A second of rest, twenty good answers a second apart, and then the rest at full speed.
  t.ok(tookMs < 26_000, `${Math.round(tookMs)} ms`);
});

t.test('a target that is dead costs no proxy its place', { timeout: 60_000 }, async (t) => {
  const dead = await openDemoSite(t);
  const world = await openFetchWorld(t, {
    flags: { 'fetch.robots': 'false', 'egress.perHour': '0' },
    allow: [dead],
  });
  // They answer 502 to CONNECT, like one that is broken itself.
  for (let n = 0; n < 6; n += 1) {
    const { url } = await openFakeProxy(t, { kind: 'http', outAddress: `127.0.0.${n + 2}` });
    await world.call('proxies.add', { url, id: `p${n}` });
  }
  await dead.close();
  const worker = await world.start([visitor()], { concurrency: 4 });
  await world.world.put(many(20, `${dead.url}/product/`).map((each) => ({ ...each, run: 'dead' })));
  const look = async (): Promise<HostView> =>
    (await world
      .call('hosts.show', { host: `127.0.0.1:${dead.port}` })
      .catch(() => ({ state: 'unknown' }))) as HostView;
  for (let looks = 0; looks < 200 && (await look()).state !== 'closed'; looks += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  t.match(await look(), { state: 'closed', closure: { reason: 'unreachable' } });

  const outcomes = await world.settle(many(30, `${world.site.url}/product/1?n=`));
  t.strictSame(
    [...outcomes.values()].filter(({ state }) => state !== 'done'),
    [],
    'others are served meanwhile',
  );
  await world.until(() => worker.fetcher.stats().leases === 0);
  const { proxies } = (await world.call('proxies.ls', {})) as { proxies: readonly { state: string }[] };
  t.strictSame(
    proxies.map(({ state }) => state),
    proxies.map(() => 'available'),
  );
});
