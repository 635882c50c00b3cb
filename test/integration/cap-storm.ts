/** Ten workers storm a site through few proxies, and the leader is killed meanwhile: the site counts. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { spawnManager } from '../kit/proxy-managers.ts';
import { task, visitor } from '../kit/visitor.ts';

const WORKERS = 10;
const PROXIES = 5;
/** So many that what a killed leader had granted and could not say is less than one in twenty of them. */
const CAP = 60;
const ALL = PROXIES * CAP;
const MINUTE_MS = 60_000;
const QUIET_MS = 2_000;
const LIMIT_MS = 20_000;

t.test('no address is seen more often than its cap, and hardly anything is wasted', async (t) => {
  const settings = {
    TRAWL_EGRESS_PER_MINUTE: String(CAP),
    TRAWL_EGRESS_PER_HOUR: '0',
    TRAWL_FETCH_ROBOTS: 'false',
    TRAWL_EGRESS_JITTER: '0',
  };
  const world = await openFetchWorld(t, {
    flags: { 'fetch.robots': 'false' },
    env: { TRAWL_EGRESS_KEY: 'test-key' }, // that of the managers
    manager: false,
  });
  const { site, server } = world;
  const first = spawnManager(t, server, 'pm1', settings);
  await first.leading;
  const second = spawnManager(t, server, 'pm2', settings);
  await world.addProxies(PROXIES);
  await Promise.all(Array.from({ length: WORKERS }, () => world.start([visitor()], { concurrency: 4 })));
  const tasks = Array.from({ length: 3 * ALL }, (_, n) => task(`k${n}`, `${site.url}/slow?ms=20&n=${n}`));
  await world.world.put(tasks.map((each) => ({ ...each, run: 'storm' })));

  await world.until(() => site.log.length >= ALL / 4);
  await first.kill();
  const atKill = site.log.length;
  await second.leading;

  // Over when everything is used up, or nothing has come for a while.
  const endAt = performance.now() + LIMIT_MS;
  for (let [seen, since] = [0, performance.now()]; performance.now() < endAt;) {
    await delay(20);
    if (site.log.length > seen) [seen, since] = [site.log.length, performance.now()];
    const quietMs = performance.now() - since;
    if (seen >= ALL * 0.95 && quietMs > QUIET_MS) break;
  }
  t.comment(`${site.log.length} of ${ALL} came, ${atKill} of them before the kill`);
  t.ok(atKill < ALL * 0.75, `killed after ${atKill}`);
  t.equal(new Set(site.log.map(({ ip }) => ip)).size, PROXIES);
  const most = site.seen.perWindow(MINUTE_MS, { by: 'ip' });
  t.ok(most <= CAP, `${most} through one proxy within a minute`);
  t.ok(site.log.length >= ALL * 0.95, `${site.log.length} of ${ALL}`);
});
