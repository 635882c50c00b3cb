/** Servers that stop, die and come back under load: every message gets an outcome, and every outcome is true. */
import t from 'tap';
import type { Connection } from '../../src/nats/connect.ts';
import { createPublisher, type Outgoing, type PublisherOptions } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsServer, type Teardown, type TestServer } from '../kit/nats-server.ts';
import {
  addStream,
  countKinds,
  findBrokenPromises,
  inWay,
  message,
  readStream,
  WAYS,
  type Sent,
} from '../kit/publisher-check.ts';

const PATIENCE_MS = 300;

for (const { durability, way } of WAYS) {
  t.test(`durability ${durability}, ${way}`, async (t) => {
    t.test('killed and restarted under load', async (t) => {
      const { server, name, publisher, connection } = await setUp(t, { window: 500, batch: 100 });
      const sent: Sent[] = [];
      let restarted = Promise.resolve();
      await publishAll(publisher, mixed(name, 6_000), (one, outcome) => {
        sent.push({ message: one, outcome });
        if ([1_000, 2_500, 4_000].includes(sent.length)) restarted = restarted.then(() => restart(server));
      });
      await restarted;
      t.equal(sent.length, 6_000, 'every message has its outcome');
      t.same(findBrokenPromises(sent, await readStream(connection, name)), []);
      t.same(
        sent.filter((one) => isSure(one.message) && one.outcome.kind !== 'stored'),
        [],
        'compare-and-set and repeatable messages are all stored',
      );
      const { stored, unknown } = countKinds(sent);
      t.comment(`${stored} stored, ${unknown} unknown`);
      t.equal(publisher.pending(), 0);
    });

    t.test('stopped for longer than the patience with an answer', async (t) => {
      let suspects = 0;
      const { server, name, publisher, connection } = await setUp(
        t,
        { window: 500, ackTimeoutMs: PATIENCE_MS },
        // A publisher that has no answer in time asks the server for a sign of life.
        (given) => whenFlushed(given, () => (suspects += 1)),
      );
      const sent: Sent[] = [];
      // It stops when a third is handed over, so that there is something left which it cannot answer.
      const source = whenYielded(mixed(name, 3_000), 1_000, () => stopFor(t, server, 3 * PATIENCE_MS));
      await publishAll(publisher, source, (one, outcome) => sent.push({ message: one, outcome }));
      t.ok(suspects > 0);
      t.equal(sent.length, 3_000);
      t.same(findBrokenPromises(sent, await readStream(connection, name)), []);
      t.same(
        sent.filter((one) => isSure(one.message) && one.outcome.kind !== 'stored'),
        [],
      );
    });

    t.test('what is published while the server is away waits for it', async (t) => {
      const { server, name, publisher, connection } = await setUp(t, { window: 50 });
      const down = new Promise<void>((resolve) => {
        connection.onChange((up) => {
          if (!up) resolve();
        });
      });
      await server.kill('SIGKILL');
      await down;
      const open = Array.from({ length: 200 }, (_, i) => publisher.publish(message(`${name}.${i}`, `m${i}`)));
      if (way === 'one by one') t.equal(publisher.pending(), 50, 'no more than the window');
      await server.start();
      const outcomes = await Promise.all(open);
      t.same(
        outcomes,
        open.map((_, i) => ({ kind: 'stored', seq: i + 1 })),
        'all, in order',
      );
    });

    t.test('patience ends', async (t) => {
      const { server, name, publisher } = await setUp(t, { giveUpMs: 400, ackTimeoutMs: 100 });
      await publisher.publish(message(`${name}.0`, 'm0'));
      await server.kill('SIGKILL');
      const outcomes = await Promise.all([
        publisher.publish({ ...message(`${name}.1`, 'm1'), expect: 0 }),
        publisher.publish({ ...message(`${name}.2`, 'm2'), repeatable: true }),
        publisher.publish(message(`${name}.3`, 'm3')),
      ]);
      t.match(outcomes, Array(3).fill({ kind: 'unknown' }));
      t.match(outcomes[0], { reason: /not confirmed within 400 ms/ });
      await publisher.flush();
    });

    async function setUp(
      t: Teardown,
      options: Partial<PublisherOptions>,
      wrap = (connection: Connection): Connection => connection,
    ) {
      const server = await startNatsServer(t, { sync: durability });
      const connection = wrap(await server.connect());
      const name = await addStream(connection);
      const publisher = inWay(
        way,
        await createPublisher(connection, { stream: name, durability, ...options }),
      );
      return { server, connection, name, publisher };
    }
  });
}

/** Whether the publisher can always bring it to a good end. */
function isSure({ expect, repeatable }: Outgoing): boolean {
  return expect !== undefined || repeatable === true;
}

function* mixed(name: string, count: number): Generator<Outgoing> {
  for (let i = 0; i < count; i += 1) {
    const one = message(`${name}.${i}`, `m${i}`);
    if (i % 10 === 0) yield one;
    else if (i % 3 === 0) yield { ...one, repeatable: true };
    else yield { ...one, expect: 0 };
  }
}

function* whenYielded<T>(source: Iterable<T>, count: number, listener: () => void): Generator<T> {
  let yielded = 0;
  for (const one of source) {
    yielded += 1;
    if (yielded === count) listener();
    yield one;
  }
}

/** By the clock: a publisher that was suspicious already when the server stopped says nothing when it does. */
function stopFor(t: Teardown, server: TestServer, stopMs: number): void {
  server.signal('SIGSTOP');
  const timer = setTimeout(() => server.signal('SIGCONT'), stopMs);
  t.teardown(() => clearTimeout(timer));
}

function whenFlushed(connection: Connection, listener: () => void): Connection {
  const { nc } = connection;
  const flush = (): Promise<void> => {
    listener();
    return nc.flush();
  };
  return { ...connection, nc: Object.create(nc, { flush: { value: flush } }) as typeof nc };
}

async function restart(server: TestServer): Promise<void> {
  await server.kill('SIGKILL');
  await server.start();
}
