/** What actors count outlives them, whoever dies and whatever the server leaves unanswered: nothing is lost or counted twice. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../src/domain/failure.ts';
import type { Bucket } from '../../src/nats/bucket.ts';
import { keepTally, type TallyKeeper } from '../../src/nats/tally.ts';
import { foldTallies } from '../../src/nats/tally-fold.ts';
import { watchTallies, type TallyWatch } from '../../src/nats/tally-watch.ts';
import { sumNamed } from '../../src/policy/tally.ts';
import { createTally, type Tally } from '../../src/telemetry/tally.ts';
import { openClusterBucket } from '../kit/cluster-bucket.ts';
import { quietLog, startNatsServer, type Teardown } from '../kit/nats-server.ts';
import { createRandom, type Random } from '../kit/random.ts';
import { untilSo } from '../kit/small-cluster.ts';

const server = await startNatsServer(t);

interface Counting {
  readonly tally: Tally;
  readonly keeper: TallyKeeper;
}

function count(bucket: Bucket, actor: string): Counting {
  const tally = createTally();
  tally.started('worker');
  const options = { role: 'worker', actor, startedAt: 1, everyMs: 3_600_000, log: quietLog };
  return {
    tally,
    keeper: keepTally(bucket, {
      ...options,
      take: () => tally.take(),
      onCount: (listener) => tally.onCount(listener),
    }),
  };
}

async function openField(t: Teardown): Promise<{ bucket: Bucket; watch: TallyWatch }> {
  const { bucket, connection } = await openClusterBucket(server);
  // One server for all tests here: what another one left is none of this one's.
  await connection.jsm.streams.purge('KV_cluster');
  const end = new AbortController();
  t.teardown(() => end.abort());
  return { bucket, watch: await watchTallies(bucket, { log: quietLog, signal: end.signal }) };
}

async function untilRetried(watch: TallyWatch, wanted: number): Promise<void> {
  await untilSo(
    async () => sumNamed(watch.sum().retried),
    (found) => found === wanted,
  );
}

t.test('one record per life, written when something has changed', async (t) => {
  const { bucket, watch } = await openField(t);
  const { tally, keeper } = count(bucket, 'w1');
  await keeper.flush();
  const [first] = await bucket.list('tally.>');
  t.ok(first, 'that it has started is something');
  await keeper.flush();
  t.equal((await bucket.list('tally.>'))[0]?.revision, first?.revision, 'who counts nothing writes nothing');
  tally.retried('NETWORK');
  await keeper.flush();
  tally.retried('TARGET');
  await keeper.close();
  await untilRetried(watch, 2);
  const [life] = watch.lives();
  t.match(life?.record, {
    actor: 'w1',
    closed: true,
    sums: { starts: { worker: 1 }, retried: { NETWORK: 1, TARGET: 1 } },
  });
  t.equal([...watch.lives()].length, 1);
});

t.test('the dead are added to the past once, by however many, and the sum never moves', async (t) => {
  const { bucket, watch } = await openField(t);
  for (let n = 0; n < 5; n += 1) {
    const { tally, keeper } = count(bucket, `w${n}`);
    tally.retried('NETWORK');
    await keeper.flush();
  }
  await untilRetried(watch, 5);
  const seen = new Set<number>();
  const end = new AbortController();
  t.teardown(() => end.abort());
  await bucket.watch('tally.>', () => seen.add(sumNamed(watch.sum().retried)), end.signal);
  const lives = [...watch.lives()];
  await Promise.allSettled([foldTallies(bucket, lives, quietLog), foldTallies(bucket, lives, quietLog)]);
  await untilSo(
    async () => {
      await foldTallies(bucket, [...watch.lives()], quietLog).catch(() => 0);
      return (await bucket.list('tally.>')).map(({ key }) => key);
    },
    (left) => left.length === 1 && left[0] === 'tally.past',
  );
  await untilRetried(watch, 5);
  t.same([...seen], [5], 'at no moment anything else');
  t.same(watch.sum().starts, { worker: 5 });
});

t.test('somebody who was only asleep goes on under a new life', async (t) => {
  const { bucket, watch } = await openField(t);
  const { tally, keeper } = count(bucket, 'w1');
  for (let n = 0; n < 5; n += 1) tally.retried('NETWORK');
  await keeper.flush();
  await untilRetried(watch, 5);
  t.equal(await foldTallies(bucket, [...watch.lives()], quietLog), 1);
  for (let n = 0; n < 3; n += 1) tally.retried('NETWORK');
  await keeper.flush();
  await untilRetried(watch, 8);
  t.same(watch.sum().starts, { worker: 1 }, 'it has not started again');
  t.equal([...watch.lives()].length, 1);
});

/** A bucket whose writes are lost, stored without an answer, or stored later. */
function faulty(bucket: Bucket, random: Random): Bucket {
  const late = new Failure('TIMEOUT', 'nobody can tell');
  const wrong = async <T>(write: () => Promise<T>): Promise<T> => {
    if (random.chance(0.1)) throw late;
    if (random.chance(0.05)) throw new Failure('UNAVAILABLE', 'nothing was stored');
    if (random.chance(0.1)) {
      void delay(random.int(0, 5))
        .then(write)
        .catch(() => undefined);
      throw late;
    }
    const stored = await write();
    if (random.chance(0.1)) throw late;
    return stored;
  };
  return {
    ...bucket,
    put: (...args) => wrong(() => bucket.put(...args)),
    create: (...args) => wrong(() => bucket.create(...args)),
    purge: (...args) => wrong(() => bucket.purge(...args)),
  };
}

for (const seed of [1, 2, 3]) {
  t.test(`exact through everything that can go wrong (seed ${seed})`, async (t) => {
    const random = createRandom(seed);
    const { bucket, watch } = await openField(t);
    const doubtful = faulty(bucket, random);
    const actors = Array.from({ length: 4 }, (_, n) => count(doubtful, `w${n}`));
    let wanted = 0;
    for (let step = 0; step < 150; step += 1) {
      const { tally, keeper } = actors[random.int(0, 3)] as Counting;
      tally.retried('NETWORK');
      wanted += 1;
      await keeper.flush();
      if (random.chance(0.2)) {
        const some = [...watch.lives()].filter(() => random.chance(0.5));
        await Promise.allSettled([
          foldTallies(doubtful, some, quietLog),
          foldTallies(doubtful, some, quietLog),
        ]);
      }
    }
    // What is still under way arrives, and what was not stored is stored.
    await delay(20);
    await untilSo(
      async () => {
        for (const { keeper } of actors) await keeper.flush();
        return sumNamed(watch.sum().retried);
      },
      (found) => found === wanted,
    );
    t.same(watch.sum().starts, { worker: 4 });
  });
}
