/** What died with a worker is found by asking the living, and given back at once; what they hold stays with them. */
import t from 'tap';
import { createOwnLanes } from '../../src/nats/own-lanes.ts';
import { answerHeld, giveBackOrphans } from '../../src/nats/orphans.ts';
import { openTaskLanes } from '../../src/nats/task-lanes.ts';
import type { TaskDelivery } from '../../src/nats/task-delivery.ts';
import { createNames } from '../../src/wire/names.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const names = createNames('trawl');
const server = await startNatsServer(t);
// Leases as long as in life: nothing comes back by itself in this test.
const world = await createTaskWorld(t, server, { leaseMs: 300_000 });
const { connection } = world;

/** A worker that takes so many and never answers. */
async function take(count: number, scraper?: string): Promise<TaskDelivery[]> {
  const deliveries: TaskDelivery[] = [];
  const own = await server.connect(`taker-${count}`);
  await new Promise<void>((resolve) => {
    const lanes = openTaskLanes(own, {
      stream: names.stream('TASKS'),
      log: quietLog,
      onRoom: () => undefined,
      onUnreadable: () => undefined,
      onDelivery(delivery) {
        deliveries.push(delivery);
        if (deliveries.length === count) resolve();
      },
    });
    if (scraper !== undefined) lanes.stand({ shared: false, own: [scraper] });
    lanes.queues(5)[0]?.request(count);
  });
  await own.close();
  return deliveries;
}

t.test('only what nobody holds is given back', async (t) => {
  t.equal(
    await giveBackOrphans(connection, names, async () => ['anybody']),
    0,
    'nothing is lent, nobody is asked',
  );
  await world.put(Array.from({ length: 20 }, (_, n) => ({ run: 'r', scraper: 's', key: `k${n}` })));
  const living = await take(6);
  const dead = await take(7);
  const forget = answerHeld(connection, names, {
    worker: 'alive',
    held: () => living.map(({ reply }) => reply),
  });
  t.equal(
    await giveBackOrphans(connection, names, async () => ['alive', 'silent']),
    undefined,
    'not while somebody is not heard of',
  );
  t.equal(await giveBackOrphans(connection, names, async () => ['alive']), 7);
  const keyOf = ({ task }: TaskDelivery): string | undefined => task.spec.key;
  const again = await take(14);
  const second = again.filter(({ deliveries }) => deliveries === 2);
  t.same(second.map(keyOf).sort(), dead.map(keyOf).sort(), 'those of the dead, once more');
  t.notOk(again.some((delivery) => living.map(keyOf).includes(keyOf(delivery))));
  forget();
});

t.test('also in the lanes of one scraper', async (t) => {
  await connection.jsm.streams.purge('TASKS');
  await createOwnLanes(connection, names).open(['rare']);
  await world.put(
    Array.from({ length: 5 }, (_, n) => ({ run: 'own', scraper: 'rare', key: `o${n}`, own: true })),
  );
  await take(3, 'rare');
  t.equal(await giveBackOrphans(connection, names, async () => []), 3);
  const again = await take(5, 'rare');
  t.equal(again.filter(({ deliveries }) => deliveries === 2).length, 3);
});
