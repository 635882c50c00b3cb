/** What a leader promised holds when it dies: its successor knows, and it itself can do no more harm. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { createEgressClient } from '../../src/nats/egress-client.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import {
  names,
  openEgressField,
  runFakeWorker,
  spawnManager,
  want,
  type Seen,
} from '../kit/proxy-managers.ts';

const PROXIES = 40;
const CAP = 50;
const WORKERS = 10;

t.test(
  'ten workers storm, the leader is killed: no cap is exceeded, and hardly anything is wasted',
  async (t) => {
    const server = await startNatsServer(t);
    const field = await openEgressField(t, server);
    const first = spawnManager(t, server, 'pm1', { TRAWL_FETCH_ROBOTS: 'false' });
    await first.leading;
    spawnManager(t, server, 'pm2', { TRAWL_FETCH_ROBOTS: 'false' });
    const proxies = Array.from({ length: PROXIES }, (_, i) => ({
      url: `http://127.0.0.1:${10_000 + i}`,
      id: `p${i}`,
    }));
    await field.call('proxies.add', { proxies });

    const seen: Seen = new Map();
    const total = (): number => [...seen.values()].reduce((sum, count) => sum + count, 0);
    const over = new AbortController();
    t.teardown(() => over.abort());
    const workers = Promise.all(
      Array.from({ length: WORKERS }, async (_, i) => {
        const connection = await server.connect(`w${i}`);
        await runFakeWorker(createEgressClient(connection, names), {
          worker: `w${i}`,
          seen,
          over: over.signal,
        });
      }),
    );
    while (total() < (PROXIES * CAP) / 4) await delay(5);
    await first.kill();
    const atKill = total();
    await workers;

    t.ok(atKill < (PROXIES * CAP) / 2, `killed after ${atKill}`);
    for (const [id, count] of seen) t.ok(count <= CAP, `${id}: ${count}`);
    t.comment(`${total()} of ${PROXIES * CAP} were sent, ${atKill} of them before the kill`);
    t.ok(total() >= 0.95 * PROXIES * CAP, `${total()} of ${PROXIES * CAP}`);
    t.match((await field.acquire([want()], 'late')).answers, [{ kind: 'none', reason: 'rate_limited' }]);
  },
);

t.test('a leader that slept through its term answers nobody when it wakes', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  const first = spawnManager(t, server, 'pm1', { TRAWL_FETCH_ROBOTS: 'false' });
  await first.leading;
  await field.call('proxies.add', { url: 'http://127.0.0.1:8001', id: 'a' });
  first.child.kill('SIGSTOP');
  // Asked while it sleeps: the question waits for it.
  const asleep = field.client.acquire({ worker: 'w1', machine: 'm', wants: [want({ count: 50 })] });
  t.equal(await asleep, undefined);
  const second = await field.start('pm2');
  const woken = field.client.acquire({ worker: 'w2', machine: 'm', wants: [want({ count: 50 })] });
  first.child.kill('SIGCONT');
  t.match(await woken, { answers: [{ kind: 'granted', leases: [{ egress: 'a', permits: CAP }] }] });
  t.match(await field.call('proxies.show', { id: 'a' }), { usedHour: CAP });
  await second.stop();
});
