/** A crowd of workers on one queue: every task is lent once, and everybody has a part of it. */
import t from 'tap';
import { startNatsServer } from '../kit/nats-server.ts';
import { createPromise } from '../kit/promise.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const WORKERS = 20;
const SLOTS = 50;
const TASKS = 10_000;

t.test('twenty workers with fifty slots each, ten thousand addresses: none is lent twice', async (t) => {
  const server = await startNatsServer(t);
  const world = await createTaskWorld(t, server);
  const settled = await world.follow('crowd');
  const starts = new Map<string, number>();
  const busy = { now: 0, most: 0 };
  const byWorker = new Map<string, number>();
  // Nobody ends before everybody has begun: what one of them may hold is far less than there is.
  const everybody = createPromise();
  for (let n = 0; n < WORKERS; n += 1) {
    const worker = `w${n}`;
    startWorker(t, {
      connection: await server.connect(worker),
      limits: { worker, concurrency: SLOTS },
      scrapers: [
        {
          name: 'crowd',
          async run({ task }) {
            starts.set(task.url ?? '', (starts.get(task.url ?? '') ?? 0) + 1);
            byWorker.set(worker, (byWorker.get(worker) ?? 0) + 1);
            busy.now += 1;
            busy.most = Math.max(busy.most, busy.now);
            if (byWorker.size === WORKERS) everybody.resolve();
            await everybody.promise;
            busy.now -= 1;
          },
        },
      ],
    });
  }
  await world.put(
    Array.from({ length: TASKS }, (_, n) => ({
      run: 'crowd',
      scraper: 'crowd',
      key: `k${n}`,
      url: `https://shop.example/product/${n}`,
    })),
  );
  const outcomes = await settled.until(TASKS, 60_000);
  t.ok([...outcomes.values()].every(({ state }) => state === 'done'));
  t.equal(starts.size, TASKS);
  t.ok(
    [...starts.values()].every((count) => count === 1),
    'each was started once',
  );
  const { delivered } = await world.connection.jsm.consumers.info('TASKS', 'p5');
  t.equal(delivered.consumer_seq, TASKS, 'and the server lent each once');
  t.equal(byWorker.size, WORKERS);
  t.ok(busy.most > SLOTS && busy.most <= WORKERS * SLOTS, `${busy.most} at once`);
  t.match(await world.reader.counts('crowd'), { accepted: TASKS, done: TASKS, dead: 0 });
});
