/** Order, back-pressure and the end of a publisher. */
import t from 'tap';
import { setImmediate as turn } from 'node:timers/promises';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { addStream, message, setUpPublisher } from '../kit/publisher-check.ts';

const server = await startNatsServer(t);
const connection = await server.connect();

for (const durability of ['interval', 'always'] as const) {
  t.test(`durability ${durability}`, async (t) => {
    t.test('keeps the order of a subject', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, batch: 50 });
      const last = new Map<string, number>();
      const messages = Array.from({ length: 2_000 }, (_, i) => message(`${name}.${i % 5}`, `m${i}`));
      const outcomes = await Promise.all(messages.map((one) => publisher.publish(one)));
      for (const [i, { subject }] of messages.entries()) {
        const outcome = outcomes[i];
        const seq = outcome?.kind === 'stored' ? outcome.seq : 0;
        if (seq <= (last.get(subject) ?? 0)) t.fail(`m${i} was stored at ${seq}, after ${last.get(subject)}`);
        last.set(subject, seq);
      }
      t.equal(last.size, 5);
    });

    t.test('the window bounds what is under way, by count', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, window: 40, batch: 15 });
      let most = 0;
      const source = async function* (): AsyncGenerator<Outgoing> {
        for (let i = 0; i < 1_000; i += 1) {
          if (i % 100 === 0) await turn();
          most = Math.max(most, publisher.pending());
          yield message(`${name}.${i}`, `m${i}`);
        }
      };
      let stored = 0;
      await publishAll(publisher, source(), (_, { kind }) => (stored += Number(kind === 'stored')));
      t.equal(stored, 1_000);
      t.ok(most <= 40, `${most} at most`);
      t.ok(most >= 20, `${most}: the window is used`);
    });

    t.test('the window bounds what is under way, by bytes', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, windowBytes: 10_000 });
      const done = Array.from({ length: 30 }, (_, i) => {
        const size = i === 7 ? 30_000 : 3_000; // one is larger than the window, and passes alone
        return publisher.publish(message(`${name}.${i}`, 'x'.repeat(size)));
      });
      t.equal(publisher.pending(), 3, 'the rest waits in line');
      t.ok(publisher.room() instanceof Promise);
      t.match(await Promise.all(done), Array(30).fill({ kind: 'stored' }));
      t.equal(publisher.room(), undefined);
    });

    t.test('flush waits for all', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, window: 10 });
      let settled = 0;
      for (let i = 0; i < 100; i += 1) {
        void publisher.publish(message(`${name}.${i}`, 'x')).then(() => (settled += 1));
      }
      await publisher.flush();
      await turn();
      t.equal(settled, 100);
      await publisher.flush();
    });

    t.test('what is published together counts as well', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, window: 100 });
      const group = (from: number, count: number): Outgoing[] =>
        Array.from({ length: count }, (_, i) => message(`${name}.${from + i}`, `m${from + i}`));
      t.same(await publisher.publishMany([]), []);
      let settled = 0;
      const publish = async (messages: readonly Outgoing[]): Promise<void> => {
        const outcomes = await publisher.publishMany(messages);
        t.match(outcomes, Array(messages.length).fill({ kind: 'stored' }));
        settled += outcomes.length;
      };
      const first = publish(group(0, 60));
      t.equal(publisher.pending(), 60);
      const second = publish(group(60, 60));
      t.ok(publisher.pending() <= 100, `${publisher.pending()}: the window bounds it`);
      t.ok(publisher.room() instanceof Promise);
      const last = publisher.publish(message(`${name}.119`, 'after it'));
      await publisher.flush();
      await turn();
      t.equal(settled, 120);
      await Promise.all([first, second]);
      t.equal(publisher.pending(), 0);
      t.equal(publisher.room(), undefined);
      t.match(await last, { kind: 'stored', seq: 121 }, 'nobody overtakes');
    });

    t.test('what is published together ends with the publisher', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability });
      const open = publisher.publishMany([1, 2, 3].map((i) => message(`${name}.${i}`, 'x')));
      const flushed = publisher.flush();
      await publisher.close();
      t.match(await open, Array(3).fill({ kind: 'unknown', reason: /closed/ }));
      await flushed;
      t.equal(publisher.pending(), 0);
    });

    t.test('a closed publisher leaves nobody waiting', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, window: 10 });
      const open = Array.from({ length: 30 }, (_, i) => publisher.publish(message(`${name}.${i}`, 'x')));
      const flushed = publisher.flush();
      const room = publisher.room();
      await publisher.close();
      t.match(await Promise.all(open), Array(30).fill({ kind: 'unknown', reason: /closed/ }));
      await flushed;
      await room;
      t.match(await publisher.publish(message(`${name}.1`, 'x')), { kind: 'refused', code: 499 });
      await publisher.close();
    });

    t.test('a closed connection leaves nobody waiting', async (t) => {
      const name = await addStream(connection);
      const own = await server.connect();
      const publisher = await createPublisher(own, { stream: name, durability });
      const open = Array.from({ length: 30 }, (_, i) => publisher.publish(message(`${name}.${i}`, 'x')));
      await own.close();
      t.equal((await Promise.all(open)).length, 30);
      t.match(await publisher.publish(message(`${name}.1`, 'x')), { kind: 'refused', code: 499 });
    });

    t.test('publishAll hands on what its source and its listener throw', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability });
      const broken = function* (): Generator<Outgoing> {
        yield message(`${name}.1`, 'x');
        throw new Error('the source broke');
      };
      await t.rejects(
        publishAll(publisher, broken(), () => undefined),
        /the source broke/,
      );
      t.equal(publisher.pending(), 0);
      const fine = [1, 2, 3].map((i) => message(`${name}.${i}`, 'x'));
      const listener = (): void => {
        throw new Error('the listener broke');
      };
      await t.rejects(publishAll(publisher, fine, listener), /the listener broke/);
      t.equal(publisher.pending(), 0);
    });
  });
}
