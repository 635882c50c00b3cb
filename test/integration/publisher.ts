/** What a publisher says of each message, on a healthy server: one by one, and in batches. */
import t from 'tap';
import { createPublisher } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import {
  countKinds,
  findBrokenPromises,
  message,
  readStream,
  setUpPublisher,
  WAYS,
  type Sent,
} from '../kit/publisher-check.ts';

const server = await startNatsServer(t, { config: 'max_payload: 64KB' });
const connection = await server.connect();
const { jsm } = connection;

t.test('there is no such stream', async (t) => {
  const attempt = createPublisher(connection, { stream: 'NONE', durability: 'interval' });
  await t.rejects(attempt, { code: 'INVALID', message: /no stream NONE/ });
});

for (const { durability, way } of WAYS) {
  t.test(`durability ${durability}, ${way}`, async (t) => {
    t.test('tells the sequence of each message', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, way });
      const sent: Sent[] = [];
      const messages = Array.from({ length: 3_000 }, (_, i) => message(`${name}.${i % 700}`, `m${i}`));
      await publishAll(publisher, messages, (message, outcome) => sent.push({ message, outcome }));
      t.same(countKinds(sent), { stored: 3_000, refused: 0, unknown: 0 });
      t.same(findBrokenPromises(sent, await readStream(connection, name)), []);
      t.equal(publisher.pending(), 0);
    });

    t.test('passes headers on', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, way });
      const headers = { 'Trawl-Key': 'ä b', 'X-Other': '' };
      await Promise.all([
        publisher.publish({ ...message(`${name}.1`, 'a'), headers }),
        publisher.publish({ ...message(`${name}.2`, 'b'), headers }),
      ]);
      for (const seq of [1, 2]) {
        const stored = await jsm.streams.getMessage(name, { seq });
        t.equal(stored?.header.get('Trawl-Key'), 'ä b');
      }
    });

    t.test('compare-and-set', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, way });
      const first = await publisher.publish({ ...message(`${name}.1`, 'a'), expect: 0 });
      t.same(first, { kind: 'stored', seq: 1 });
      t.match(await publisher.publish({ ...message(`${name}.1`, 'b'), expect: 0 }), {
        kind: 'refused',
        code: 10071,
        reason: /wrong last sequence: 1/,
      });
      t.same(await publisher.publish({ ...message(`${name}.1`, 'c'), expect: 1 }), {
        kind: 'stored',
        seq: 2,
      });
    });

    t.test('a fence', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, way });
      await publisher.publish(message(`${name}.lock`, 'me'));
      const fence = { subject: `${name}.lock`, token: 1 };
      const outcomes = await Promise.all([
        publisher.publish({ ...message(`${name}.a`, 'a'), fence }),
        publisher.publish({ ...message(`${name}.b`, 'b'), fence: { ...fence, token: 7 } }),
        publisher.publish({ ...message(`${name}.c`, 'c'), fence }),
      ]);
      t.same(
        outcomes.map(({ kind }) => kind),
        ['stored', 'refused', 'stored'],
      );
      t.match(outcomes[1], { code: 10071 });
    });

    t.test('a full stream refuses what does not fit, and takes more when it has room again', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, {
        durability,
        way,
        config: { max_bytes: 20_000, discard: 'new' },
      });
      const sent: Sent[] = [];
      const messages = Array.from({ length: 300 }, (_, i) =>
        message(`${name}.${i}`, `m${i}`.padEnd(100, '.')),
      );
      await publishAll(publisher, messages, (message, outcome) => sent.push({ message, outcome }));
      const { stored, refused, unknown } = countKinds(sent);
      t.ok(stored > 50 && refused > 100 && unknown === 0, `${stored} stored, ${refused} refused`);
      t.match(
        sent.filter(({ outcome }) => outcome.kind === 'refused').map(({ outcome }) => outcome),
        Array(refused).fill({ code: 10077, reason: /maximum bytes/ }),
      );
      t.same(findBrokenPromises(sent, await readStream(connection, name)), []);
      await jsm.streams.purge(name);
      t.match(await publisher.publish(message(`${name}.x`, 'x')), { kind: 'stored' });
    });

    t.test('refuses what no server would take, and sends the rest', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, {
        durability,
        way,
        config: { max_msg_size: 1_000 },
      });
      const outcomes = await Promise.all([
        publisher.publish(message(`${name}.a`, 'a')),
        publisher.publish(message(`${name}.b`, 'b'.repeat(70_000))),
        publisher.publish(message(`${name}.c`, 'c'.repeat(2_000))),
        publisher.publish(message(`${name}.*`, 'd')),
        publisher.publish(message('', 'e')),
        publisher.publish({ ...message(`${name}.f`, 'f'), headers: { Bad: 'x\r\nNats-TTL: 1s' } }),
        publisher.publish({ ...message(`${name}.g`, 'g'), headers: { 'No colon: here': 'x' } }),
        publisher.publish(message('elsewhere.h', 'h')),
        publisher.publish(message(`${name}.i`, 'i')),
      ]);
      t.match(outcomes, [
        { kind: 'stored' },
        { kind: 'refused', code: 10054, reason: /70000 bytes.*65536/ },
        { kind: 'refused', code: 10054 },
        { kind: 'refused', code: 400 },
        { kind: 'refused', code: 400 },
        { kind: 'refused', code: 400, reason: /line break/ },
        { kind: 'refused', code: 400, reason: /header name/ },
        { kind: 'refused', code: 10059, reason: /does not take the subject elsewhere\.h/ },
        { kind: 'stored' },
      ]);
    });

    t.test('a message that only fits without batch headers', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, way });
      const outcomes = await Promise.all(
        [10, 65_536, 65_500, 10].map((size, i) =>
          publisher.publish(message(`${name}.${i}`, 'x'.repeat(size))),
        ),
      );
      t.match(outcomes, Array(4).fill({ kind: 'stored' }));
    });

    t.test('the stream is deleted', async (t) => {
      const { name, publisher } = await setUpPublisher(t, connection, { durability, way });
      await jsm.streams.delete(name);
      const outcomes = await Promise.all(
        [1, 2, 3].map((i) => publisher.publish(message(`${name}.${i}`, 'x'))),
      );
      t.match(outcomes, Array(3).fill({ kind: 'refused', code: 10059, reason: /no stream/ }));
    });

    t.test('another stream answers', async (t) => {
      const { publisher } = await setUpPublisher(t, connection, { durability, way });
      const other = await setUpPublisher(t, connection, { durability, way });
      t.match(await publisher.publish(message(`${other.name}.1`, 'x')), { kind: 'refused', code: 10060 });
    });
  });
}
