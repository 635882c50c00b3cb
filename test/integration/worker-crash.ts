/** Workers that die, sleep or are killed by a task: the tasks come back, and each is settled once. */
import t from 'tap';
import { startNatsServer } from '../kit/nats-server.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';
import { startWorkerChild } from '../kit/worker-child.ts';

const leaseMs = 1_000;
const server = await startNatsServer(t);
const world = await createTaskWorld(t, server, { leaseMs });
const { connection } = world;

t.test('a worker is killed with tasks in hand: others do them, once', async (t) => {
  const settled = await world.follow('killed');
  const child = startWorkerChild(t, server, { worker: 'victim', leaseMs });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  await world.put(keys.map((key) => ({ run: 'killed', scraper: 'hang', key, input: { ms: 600_000 } })));
  await Promise.all(keys.map(() => child.said('started')));
  child.signal('SIGKILL');
  await child.exited;
  startWorker(t, {
    connection,
    limits: { worker: 'heir', leaseMs },
    scrapers: [{ name: 'hang', run: async () => 'done' }],
  });
  const outcomes = await settled.until(10);
  t.ok([...outcomes.values()].every((outcome) => outcome.state === 'done' && outcome.worker === 'heir'));
  t.match(await world.reader.counts('killed'), { accepted: 10, done: 10, dead: 0 });
});

t.test('a worker sleeps past its lease: its late result is refused', async (t) => {
  const settled = await world.follow('asleep');
  const child = startWorkerChild(t, server, { worker: 'sleeper', leaseMs });
  await world.put([{ run: 'asleep', scraper: 'hold', key: 'a' }]);
  await child.said('started');
  child.signal('SIGSTOP');
  startWorker(t, {
    connection,
    limits: { worker: 'awake', leaseMs },
    scrapers: [{ name: 'hold', run: async () => 'done' }],
  });
  t.match((await settled.until(1)).get('a'), { state: 'done', worker: 'awake' });
  child.signal('SIGCONT');
  child.signal('SIGUSR2');
  t.match(await child.said('task.refused'), { run: 'asleep' });
  t.equal(settled.outcomes.get('a')?.length, 1);
  t.match(await world.reader.counts('asleep'), { accepted: 1, done: 1 });
});

t.test('a task that ends its worker is buried, and none of its neighbours', async (t) => {
  const settled = await world.follow('poison');
  const count = 30;
  await world.put(
    Array.from({ length: count }, (_, i) => ({
      run: 'poison',
      scraper: 'poison',
      key: `k${i}`,
      input: { poison: i === 3 },
    })),
  );
  const all = settled.until(count, 60_000);
  let deaths = 0;
  const over = { yes: false };
  const keepAlive = (async () => {
    while (!over.yes) {
      const child = startWorkerChild(t, server, { worker: `p${deaths}`, leaseMs, concurrency: 4 });
      const died = await Promise.race([child.exited.then(() => true), all.then(() => false)]);
      if (!died) return;
      deaths += 1;
    }
  })();
  const outcomes = await all;
  over.yes = true;
  await keepAlive;
  const dead = [...outcomes].filter(([, { state }]) => state === 'dead');
  t.same(
    dead.map(([key]) => key),
    ['k3'],
  );
  t.match(dead[0]?.[1], { state: 'dead', error: { code: 'POISON', message: /started alone 2 times/ } });
  t.equal(deaths, 4, 'twice among others, twice alone');
});
