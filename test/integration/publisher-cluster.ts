/** A replicated stream that loses its leader under load: elections delay messages, and refuse none. */
import t from 'tap';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsCluster } from '../kit/nats-cluster.ts';
import {
  addStream,
  countKinds,
  findBrokenPromises,
  message,
  readStream,
  type Sent,
} from '../kit/publisher-check.ts';

const COUNT = 6_000;
const cluster = await startNatsCluster(t);
const observer = await cluster.connect();

for (const durability of ['interval', 'always'] as const) {
  t.test(`durability ${durability}`, async (t) => {
    const name = await addStream(observer, { num_replicas: 3 });
    const connection = await cluster.connect();
    const publisher = await createPublisher(connection, {
      stream: name,
      durability,
      window: 600,
      batch: 100,
    });
    const sent: Sent[] = [];
    const events: Promise<unknown>[] = [];
    await publishAll(publisher, messages(name), (one, outcome) => {
      sent.push({ message: one, outcome });
      if (sent.length === COUNT / 3)
        events.push(observer.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${name}`));
      if (sent.length === (2 * COUNT) / 3) events.push(replaceLeader(name));
    });
    await Promise.all(events);
    t.equal(events.length, 2);
    t.same(countKinds(sent), { stored: COUNT, refused: 0, unknown: 0 });
    t.same(findBrokenPromises(sent, await readStream(observer, name)), []);
    await publisher.close();
  });
}

function* messages(name: string): Generator<Outgoing> {
  for (let i = 0; i < COUNT; i += 1) {
    const one = message(`${name}.${i}`, `m${i}`);
    yield i % 3 === 0 ? { ...one, repeatable: true } : { ...one, expect: 0 };
  }
}

async function replaceLeader(stream: string): Promise<void> {
  const { cluster: group } = await observer.jsm.streams.info(stream);
  const leader = group?.leader ?? '';
  await cluster.kill(leader);
  await cluster.start(leader);
}
