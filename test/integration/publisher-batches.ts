/** Atomic batches: one refused member refuses them all, and yet each message gets its own true outcome. */
import t from 'tap';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import {
  addStream,
  bytesOf,
  countKinds,
  findBrokenPromises,
  message,
  readStream,
  setUpPublisher,
  type Sent,
} from '../kit/publisher-check.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const server = await startNatsServer(t);
const connection = await server.connect();
const durability = 'always';

t.test('what is published together is one batch, with one sequence after the other', async (t) => {
  const { name, publisher } = await setUpPublisher(t, connection, { durability });
  const messages = [1, 2, 3].map((i) => message(`${name}.${i}`, `m${i}`));
  const outcomes = await Promise.all(messages.map((one) => publisher.publish(one)));
  t.same(
    outcomes,
    [1, 2, 3].map((seq) => ({ kind: 'stored', seq })),
  );
  const stored = await connection.jsm.streams.getMessage(name, { seq: 3 });
  t.equal(stored?.header.get('Nats-Batch-Commit'), '1');
});

t.test('a lonely message goes without a batch, at once', async (t) => {
  const { name, publisher } = await setUpPublisher(t, connection, { durability });
  await publisher.publish(message(`${name}.warm`, 'warm'));
  const times: number[] = [];
  for (let i = 0; i < 21; i += 1) {
    const start = performance.now();
    t.match(await publisher.publish(message(`${name}.${i}`, 'x')), { kind: 'stored' });
    times.push(performance.now() - start);
  }
  const median = times.sort((a, b) => a - b)[10] ?? Infinity;
  t.ok(median < 20, `${median.toFixed(1)} ms`);
  const stored = await connection.jsm.streams.getMessage(name, { seq: 5 });
  t.equal(stored?.header.has('Nats-Batch-Id'), false);
});

t.test('a stream that takes no batches gets single messages', async (t) => {
  const { name, publisher } = await setUpPublisher(t, connection, {
    durability,
    config: { allow_atomic: false },
  });
  const outcomes = await Promise.all([1, 2, 3].map((i) => publisher.publish(message(`${name}.${i}`, 'x'))));
  t.match(outcomes, Array(3).fill({ kind: 'stored' }));
});

t.test('the same subject twice', async (t) => {
  const { name, publisher } = await setUpPublisher(t, connection, { durability });
  const outcomes = await Promise.all([
    publisher.publish({ ...message(`${name}.a`, '1'), expect: 0 }),
    publisher.publish({ ...message(`${name}.a`, '2'), expect: 0 }),
    publisher.publish({ ...message(`${name}.a`, '3'), expect: 1 }),
    publisher.publish(message(`${name}.a`, '4')),
    publisher.publish(message(`${name}.b`, '5')),
    publisher.publish(message(`${name}.b`, '6')),
    publisher.publish({ ...message(`${name}.b`, '7'), expect: 0 }),
  ]);
  t.same(
    outcomes.map(({ kind }) => kind),
    ['stored', 'refused', 'stored', 'stored', 'stored', 'stored', 'refused'],
  );
});

for (const allow_direct of [true, false]) {
  t.test(`a refused member in every position (direct reads: ${allow_direct})`, async (t) => {
    const { name, publisher } = await setUpPublisher(t, connection, { durability, config: { allow_direct } });
    await publisher.publish(message(`${name}.taken`, 'taken'));
    for (let size = 2; size <= 9; size += 1) {
      for (let bad = 0; bad < size; bad += 1) {
        const outcomes = await Promise.all(
          Array.from({ length: size }, (_, i) => {
            const subject = i === bad ? `${name}.taken` : `${name}.${size}.${bad}.${i}`;
            return publisher.publish({ subject, payload: bytesOf('x'), expect: 0 });
          }),
        );
        const kinds = outcomes.map(({ kind }) => kind);
        const wanted = kinds.map((_, i) => (i === bad ? 'refused' : 'stored'));
        t.same(kinds, wanted, `position ${bad} of ${size}`);
      }
    }
  });

  t.test(`any mix of faults (direct reads: ${allow_direct})`, async (t) => {
    const random = createRandom(chooseSeed());
    t.comment(`seed ${random.seed}`);
    const config = { allow_direct, max_msg_size: 500 };
    const { name, publisher } = await setUpPublisher(t, connection, { durability, batch: 40, config });
    await publisher.publish(message(`${name}.taken`, 'taken'));
    const sent: Sent[] = [];
    const wanted = new Map<Outgoing, string>();
    const messages = Array.from({ length: 1_500 }, (_, i) => {
      const subject = `${name}.${i}`;
      const text = `m${i}`;
      const share = Math.floor(i / 300) / 8; // quiet at first, then ever more faults
      const fault = random.chance(share) ? random.pick(['conflict', 'size', 'fence', 'subject']) : 'none';
      const one: Outgoing =
        fault === 'conflict'
          ? { ...message(subject, text), expect: 99_999 }
          : fault === 'size'
            ? message(subject, text.padEnd(600))
            : fault === 'fence'
              ? { ...message(subject, text), fence: { subject: `${name}.taken`, token: 2 } }
              : fault === 'subject'
                ? message(`elsewhere.${i}`, text)
                : random.chance(0.5)
                  ? { ...message(subject, text), expect: 0 }
                  : message(`${name}.shared.${random.int(0, 3)}`, text);
      wanted.set(one, fault === 'none' ? 'stored' : 'refused');
      return one;
    });
    await publishAll(publisher, messages, (one, outcome) => sent.push({ message: one, outcome }));
    t.equal(sent.length, messages.length);
    t.same(
      sent.filter((one) => one.outcome.kind !== wanted.get(one.message)),
      [],
    );
    const kept = await readStream(connection, name);
    kept.delete(1); // the one that was there before
    t.same(findBrokenPromises(sent, kept), []);
    const shared = new Map<string, number>();
    for (const { subject, text } of kept.values()) {
      if (!subject.includes('.shared.')) continue;
      const number = Number(text.slice(1));
      if (number <= (shared.get(subject) ?? -1)) t.fail(`${text} came late on ${subject}`);
      shared.set(subject, number);
    }
  });
}

t.test('several publishers at once: the sequences of a batch are still its own', async (t) => {
  const name = await addStream(connection);
  const sent: Sent[] = [];
  await Promise.all(
    (['always', 'always', 'interval'] as const).map(async (own, i) => {
      const publisher = await createPublisher(await server.connect(), {
        stream: name,
        durability: own,
        batch: 100,
      });
      const messages = Array.from({ length: 3_000 }, (_, n) => message(`${name}.${i}.${n}`, `${i}:${n}`));
      await publishAll(publisher, messages, (one, outcome) => sent.push({ message: one, outcome }));
    }),
  );
  t.same(countKinds(sent), { stored: 9_000, refused: 0, unknown: 0 });
  t.same(findBrokenPromises(sent, await readStream(connection, name)), []);
});
