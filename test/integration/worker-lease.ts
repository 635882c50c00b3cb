/** Time: leases that are renewed while a task lives, hard limits, and silence after a lapse. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { createPromise } from '../kit/promise.ts';
import { startNatsServer, type Teardown } from '../kit/nats-server.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const leaseMs = 2_000;
const server = await startNatsServer(t);
const world = await createTaskWorld(t, server, { leaseMs });
const { connection } = world;

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** What workers say to the server about their tasks. */
function hearWords(t: Teardown): string[] {
  const words: string[] = [];
  const heard = connection.nc.subscribe('$JS.ACK.>', {
    callback: (_error, message) => void words.push(message.string().slice(0, 4)),
  });
  t.teardown(() => heard.unsubscribe());
  return words;
}

t.test('a task past its hard limit is aborted', async (t) => {
  const settled = await world.follow('timeout');
  const deaf = createPromise();
  t.teardown(() => deaf.resolve());
  startWorker(t, {
    connection,
    limits: { leaseMs, abortGraceMs: 200 },
    scrapers: [
      { name: 'obeys', timeoutMs: 150, retries: 1, run: ({ signal }) => untilAborted(signal) },
      { name: 'deaf', timeoutMs: 150, retries: 0, run: () => deaf.promise },
    ],
  });
  await world.put(['obeys', 'deaf'].map((name) => ({ run: 'timeout', scraper: name, key: name })));
  const outcomes = await settled.until(2);
  const timeout = { code: 'TIMEOUT', message: 'not done within 150 ms' };
  t.match(outcomes.get('obeys'), { state: 'dead', error: timeout, faults: [timeout, timeout] });
  t.match(outcomes.get('deaf'), { state: 'dead', error: timeout });
});

t.test('a long task that shows life is not delivered twice', async (t) => {
  const settled = await world.follow('long');
  let starts = 0;
  const long: Scraper = {
    name: 'long',
    async run(context) {
      starts += 1;
      for (let i = 0; i < 15; i += 1) {
        await delay(200);
        context.progress();
      }
    },
  };
  for (let i = 0; i < 2; i += 1) startWorker(t, { connection, limits: { leaseMs }, scrapers: [long] });
  await world.put([{ run: 'long', scraper: 'long', key: 'a' }]);
  await settled.until(1);
  t.equal(starts, 1);
});

t.test('one that shows none loses its lease', async (t) => {
  const settled = await world.follow('stuck');
  const starts: string[] = [];
  const end = new AbortController();
  t.teardown(() => end.abort());
  for (const worker of ['x', 'y'])
    startWorker(t, {
      connection,
      limits: { leaseMs, worker, abortGraceMs: 100 },
      scrapers: [
        {
          name: 'stuck',
          async run() {
            starts.push(worker);
            if (starts.length === 1)
              await delay(600_000, undefined, { signal: end.signal }).catch(() => undefined);
          },
        },
      ],
    });
  await world.put([{ run: 'stuck', scraper: 'stuck', key: 'a' }]);
  t.equal((await settled.until(1)).get('a')?.state, 'done');
  t.equal(starts.length, 2);
});

t.test('what waits for a slot keeps its lease', async (t) => {
  const settled = await world.follow('waiting');
  const ran: string[] = [];
  startWorker(t, {
    connection,
    limits: { leaseMs, concurrency: 1 },
    scrapers: [
      {
        name: 'waiting',
        async run({ task }) {
          ran.push(task.id);
          await delay(450);
        },
      },
    ],
  });
  await world.put(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => ({ run: 'waiting', scraper: 'waiting', key })));
  await settled.until(6);
  t.equal(ran.length, 6);
  t.equal(new Set(ran).size, 6);
});

t.test('a worker that may have lapsed says nothing but what is stored', async (t) => {
  const words = hearWords(t);
  const settled = await world.follow('lapsed');
  const beatAt = performance.now();
  const done = createPromise();
  const began = createPromise();
  const worker = startWorker(t, {
    connection,
    limits: { leaseMs },
    lastBeatAt: () => beatAt,
    scrapers: [
      {
        name: 'lapsed',
        run() {
          began.resolve();
          return done.promise;
        },
      },
    ],
  });
  await world.put([{ run: 'lapsed', scraper: 'lapsed', key: 'a' }]);
  await began.promise;
  await delay(leaseMs);
  const before = words.length;
  await delay(leaseMs);
  t.same(words.slice(before), [], 'no word after the lapse');
  done.resolve();
  await settled.until(1);
  worker.abort();
  await worker.ended;
  await connection.nc.flush();
  t.same(words.slice(before), [''], 'but the acknowledgement of a stored outcome');
});
