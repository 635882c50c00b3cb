/** The server goes away and comes back while a worker works: it goes on, and every task gets its one outcome. */
import t from 'tap';
import { isUpWithin } from '../../src/nats/ask.ts';
import { createPromise } from '../kit/promise.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

t.test('a server that is killed and started again', async (t) => {
  const server = await startNatsServer(t);
  const world = await createTaskWorld(t, server, { leaseMs: 3_000 });
  const connection = await server.connect('worker');
  const begun = createPromise();
  const go = createPromise();
  startWorker(t, {
    connection,
    limits: { leaseMs: 3_000, concurrency: 4 },
    scrapers: [
      {
        name: 'slow',
        async run() {
          begun.resolve();
          await go.promise;
        },
      },
    ],
  });
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
  await world.put(keys.map((key) => ({ run: 'outage', scraper: 'slow', key })));
  await begun.promise;
  await server.kill('SIGKILL');
  go.resolve();
  await server.start();
  t.ok(await isUpWithin(world.connection, 10_000));
  const settled = await world.follow('outage');
  await world.put([{ run: 'outage', key: 'after' }]);
  const outcomes = await settled.until(21);
  t.ok([...outcomes.values()].every(({ state }) => state === 'done'));
  t.match(await world.reader.counts('outage'), { accepted: 21, done: 21, dead: 0 });
});
