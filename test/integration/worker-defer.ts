/** Deferrals: a task that is told to wait waits, nothing is held against it, and it does not wait for ever. */
import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { acquireLock } from '../../src/nats/lock.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { FAST_SETTLE, startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const server = await startNatsServer(t);
const world = await createTaskWorld(t, server);
const { connection } = world;

t.test('a deferral burns nothing', async (t) => {
  const settled = await world.follow('defer');
  let starts = 0;
  startWorker(t, {
    connection,
    scrapers: [
      {
        name: 'defer',
        retries: 0,
        async run({ attempt }) {
          starts += 1;
          t.equal(attempt, 1);
          if (starts < 4) throw new Failure('THROTTLED', 'slow down');
        },
      },
    ],
  });
  await world.put([{ run: 'defer', scraper: 'defer', key: 'a' }]);
  t.match((await settled.until(1)).get('a'), { state: 'done', faults: [] });
  t.equal(starts, 4);
});

t.test('a task whose key is locked elsewhere waits, and nothing is held against it', async (t) => {
  const settled = await world.follow('locked');
  const lock = await acquireLock(world.bucket, 'task.game-7', { ttlMs: 30_000, owner: 'test' });
  t.ok(lock);
  let refused = 0;
  startWorker(t, {
    connection,
    limits: { settle: FAST_SETTLE },
    scrapers: [
      {
        name: 'locked',
        retries: 0,
        run: (context) =>
          context
            .withLock('game-7', async () => context.attempt)
            .catch((error: unknown) => {
              refused += 1;
              if (refused === 2) void lock?.release();
              throw error;
            }),
      },
    ],
  });
  await world.put([{ run: 'locked', scraper: 'locked', key: 'a' }]);
  t.match((await settled.until(1)).get('a'), { state: 'done', faults: [], result: { data: 1 } });
  t.ok(refused >= 2);
});

t.test('an attempt that has lost its lock is no success, though its handler does not mind', async (t) => {
  const settled = await world.follow('lost');
  const seen: number[] = [];
  startWorker(t, {
    connection,
    scrapers: [
      {
        name: 'lost',
        retries: 0,
        run: ({ withLock, signal }) =>
          withLock('game-8', async (held) => {
            seen.push(seen.length);
            if (seen.length > 1) return 'held to the end';
            // As if it had expired. The holder finds out when it renews it.
            const { revision = 0 } = (await world.bucket.get('lock.task.game-8')) ?? {};
            await world.bucket.purge('lock.task.game-8', { expect: revision, markerTtlMs: 5_000 });
            await new Promise((resolve) => held.addEventListener('abort', resolve, { once: true }));
            t.ok(signal.aborted, 'the whole attempt is told');
            return 'not worth anything';
          }).catch(() => 'nor is this'),
      },
    ],
  });
  await world.put([{ run: 'lost', scraper: 'lost', key: 'a' }]);
  t.match((await settled.until(1)).get('a'), {
    state: 'done',
    faults: [],
    result: { data: 'held to the end' },
  });
  t.equal(seen.length, 2);
});

t.test('a task that is deferred for too long is buried, however old it was when that began', async (t) => {
  const settled = await world.follow('expired');
  let starts = 0;
  startWorker(t, {
    connection,
    limits: { settle: { ...FAST_SETTLE, deferMaxMs: 700 } },
    scrapers: [
      {
        name: 'expired',
        async run() {
          starts += 1;
          throw new Failure('THROTTLED', 'never now');
        },
      },
    ],
  });
  const [spec] = await world.put([
    { run: 'expired', scraper: 'expired', key: 'a', createdAt: Date.now() - 86_400_000 },
  ]);
  t.ok(spec);
  t.match((await settled.until(1)).get('a'), {
    state: 'dead',
    error: { code: 'EXPIRED', message: /deferred \d times, and still: never now/ },
  });
  t.ok(starts >= 3, `${starts} starts`);
});
