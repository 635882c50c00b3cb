/** Lost answers and lost messages: what a publisher finds out about them, and what it cannot know. */
import t from 'tap';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import {
  createPublisher,
  type Outgoing,
  type PublishOutcome,
  type Publisher,
} from '../../src/nats/publisher.ts';
import { startNatsServer, quietLog, type Teardown } from '../kit/nats-server.ts';
import { addStream, inWay, message, readStream, WAYS } from '../kit/publisher-check.ts';
import { startTcpProxy, type TcpProxy } from '../kit/tcp-proxy.ts';

const server = await startNatsServer(t);
const direct = await server.connect('direct');

for (const { durability, way } of WAYS) {
  t.test(`durability ${durability}, ${way}`, async (t) => {
    t.test('stored, and the answers are lost', async (t) => {
      const { name, proxy, publisher } = await setUp(t);
      const open = await loseAnswers(proxy, name, () =>
        [1, 2, 3].map((i) => publisher.publish({ ...message(`${name}.${i}`, `m${i}`), expect: 0 })),
      );
      proxy.cut();
      t.same(
        await Promise.all(open),
        [1, 2, 3].map((seq) => ({ kind: 'stored', seq })),
      );
      t.equal((await readStream(direct, name)).size, 4, 'one copy each, and the marker');
    });

    t.test('the answers are late', async (t) => {
      const { name, proxy, publisher } = await setUp(t, {}, 200);
      const plain = { subject: `${name}.plain`, payload: new Uint8Array(1) };
      proxy.muteServer();
      const guarded = publisher.publish({ ...message(`${name}.1`, 'm1'), expect: 0 });
      await Promise.resolve(); // two that are sent together are also told of together
      t.match(await publisher.publish(plain), { kind: 'unknown', reason: /no answer within 200 ms/ });
      proxy.cut();
      t.match(await guarded, { kind: 'stored' });
    });

    t.test('never arrived: sent again', async (t) => {
      const { name, proxy, publisher } = await setUp(t);
      const lost = proxy.muteClient();
      const open = [1, 2, 3].map((i) =>
        publisher.publish({ ...message(`${name}.${i}`, `m${i}`), expect: 0 }),
      );
      await lost;
      proxy.cut();
      t.match(await Promise.all(open), Array(3).fill({ kind: 'stored' }));
      t.equal((await readStream(direct, name)).size, 3);
    });

    t.test('never arrived, and another writer was first: refused', async (t) => {
      const { name, proxy, publisher } = await setUp(t, { max_msgs_per_subject: 1 });
      const lost = proxy.muteClient();
      const open = [1, 2, 3].map((i) =>
        publisher.publish({ ...message(`${name}.${i}`, `m${i}`), expect: 0 }),
      );
      await lost;
      await direct.js.publish(`${name}.2`, 'theirs', { expect: { lastSubjectSequence: 0 } });
      proxy.cut();
      t.match(await Promise.all(open), [
        { kind: 'stored' },
        { kind: 'refused', code: 10071, reason: /wrong last sequence: 1/ },
        { kind: 'stored' },
      ]);
    });

    t.test('stored and superseded: found in the history', async (t) => {
      const { name, proxy, publisher } = await setUp(t);
      t.same(await supersede(proxy, name, publisher), [{ kind: 'stored', seq: 1 }]);
    });

    t.test('stored and superseded, and the stream keeps only the last: unknown', async (t) => {
      const { name, proxy, publisher } = await setUp(t, { max_msgs_per_subject: 1 });
      t.match(await supersede(proxy, name, publisher), [{ kind: 'unknown', reason: /moved on to sequence/ }]);
    });

    t.test('without expectation: unknown, or harmless to send again', async (t) => {
      const { name, proxy, publisher } = await setUp(t);
      const lock = await direct.js.publish(`${name}.lock`, 'me');
      const fence = { subject: `${name}.lock`, token: lock.seq };
      const open = await loseAnswers(proxy, name, () => [
        publisher.publish(message(`${name}.plain`, 'plain')),
        publisher.publish({ ...message(`${name}.fenced`, 'fenced'), fence }),
        publisher.publish({ ...message(`${name}.again`, 'again'), repeatable: true }),
      ]);
      proxy.cut();
      t.match(await Promise.all(open), [{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'stored' }]);
      const texts = [...(await readStream(direct, name)).values()].map(({ text }) => text);
      t.equal(texts.filter((text) => text === 'again').length, 2, 'the price of repeatable');
      t.equal(texts.filter((text) => text === 'plain').length, 1);
    });

    t.test('a work queue forgets what was consumed, so absence proves nothing', async (t) => {
      const { name, proxy, publisher } = await setUp(t, { retention: 'workqueue' });
      const outgoing: Outgoing[] = [
        { ...message(`${name}.once`, 'once'), expect: 0 },
        { ...message(`${name}.again`, 'again'), expect: 0, repeatable: true },
      ];
      const open = await loseAnswers(proxy, name, () => outgoing.map((one) => publisher.publish(one)));
      await direct.jsm.streams.purge(name); // as good as consumed
      proxy.cut();
      t.match(await Promise.all(open), [{ kind: 'unknown', reason: /consumed/ }, { kind: 'stored' }]);
    });

    t.test('the first copy lands while the second is on its way', async (t) => {
      const { name, proxy, connection } = await setUp(t);
      const outgoing = [1, 2, 3].map((i) => ({ ...message(`${name}.${i}`, `m${i}`), expect: 0 }));
      const late = new Map(outgoing.map((one) => [one.subject, one.payload]));
      // The look at the stream finds nothing, and right after it the first copy arrives.
      const lagging = afterRead(connection, async (subject) => {
        const payload = late.get(subject);
        late.delete(subject);
        if (payload) await direct.js.publish(subject, payload, { expect: { lastSubjectSequence: 0 } });
      });
      const publisher = inWay(way, await createPublisher(lagging, { stream: name, durability }));
      const lost = proxy.muteClient();
      const open = outgoing.map((one) => publisher.publish(one));
      await lost;
      proxy.cut();
      t.match(await Promise.all(open), Array(3).fill({ kind: 'stored' }));
      t.equal(late.size, 0, 'all first copies have landed');
      t.equal((await readStream(direct, name)).size, 3, 'and there is no second');
    });

    async function setUp(t: Teardown, config: Parameters<typeof addStream>[1] = {}, ackTimeoutMs = 5_000) {
      const name = await addStream(direct, config);
      const proxy = await startTcpProxy(t, server.port);
      const connection = await connectNats({
        access: { url: [proxy.url] },
        name: 'proxied',
        log: quietLog,
        whenUnreachable: 'wait',
      });
      t.teardown(() => connection.close());
      const publisher = inWay(
        way,
        await createPublisher(connection, { stream: name, durability, ackTimeoutMs }),
      );
      return { name, proxy, connection, publisher };
    }
  });
}

/** Publishes something, and returns when the stream has it and the publisher does not know. */
async function loseAnswers(
  proxy: TcpProxy,
  stream: string,
  publish: () => Promise<PublishOutcome>[],
): Promise<Promise<PublishOutcome>[]> {
  const arrivals = direct.nc.subscribe(`${stream}.>`);
  await direct.nc.flush();
  proxy.muteServer();
  const outcomes = publish();
  const iterator = arrivals[Symbol.asyncIterator]();
  for (let left = outcomes.length; left > 0; left -= 1) await iterator.next();
  arrivals.unsubscribe();
  // The stream takes messages in turn: once this one is stored, so are those before it.
  await direct.js.publish(`${stream}.marker`, 'marker');
  return outcomes;
}

/** The publisher's message is stored at sequence 1, it does not know, and another writer builds on it. */
async function supersede(proxy: TcpProxy, stream: string, publisher: Publisher): Promise<PublishOutcome[]> {
  const open = await loseAnswers(proxy, stream, () => [
    publisher.publish({ ...message(`${stream}.1`, 'ours'), expect: 0 }),
  ]);
  await direct.js.publish(`${stream}.1`, 'theirs', { expect: { lastSubjectSequence: 1 } });
  proxy.cut();
  return Promise.all(open);
}

/** A connection on which something happens between a look at the last message of a subject and the answer. */
function afterRead(connection: Connection, happen: (subject: string) => Promise<void>): Connection {
  const { jsm } = connection;
  const getMessage: typeof jsm.streams.getMessage = async (stream, query) => {
    const found = await jsm.streams.getMessage(stream, query);
    if ('last_by_subj' in query) await happen(query.last_by_subj);
    return found;
  };
  const streams = Object.create(jsm.streams, { getMessage: { value: getMessage } }) as typeof jsm.streams;
  return { ...connection, jsm: Object.create(jsm, { streams: { value: streams } }) as typeof jsm };
}
