/** A worker whose slots are all in the hands of slow tasks keeps no quick ones from a worker that could run them. */
import t from 'tap';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';

const cluster = await startSmallCluster(t, { 'worker.concurrency': '2' });
const { call, submit } = cluster;
const counts = (): Promise<{ done: number; running: number }> => call('stats', { run: 'mixed' });

/** By far less than it takes until a worker that moves gives back what has waited too long. */
const SOON_MS = 6_000;

t.test('what was fetched ahead goes to a worker with free slots', async (t) => {
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'full');
  // Quick ones first, so that the worker expects the next ones to be quick as well, and fetches ahead.
  await submit('mixed', 'quick');
  await untilSo(counts, ({ done }) => done === 1);
  await Promise.all(['slow-1', 'slow-2'].map((key) => submit('mixed', key, { hold: true })));
  await untilSo(counts, ({ running }) => running === 2);

  const late = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(late.map((key) => submit('mixed', key)));
  await cluster.start('worker', 'free');
  const { done, running } = await untilSo(counts, (found) => found.done === 1 + late.length, SOON_MS);
  t.same({ done, running }, { done: 6, running: 2 });

  await Promise.all(['f', 'g', 'h'].map((key) => submit('mixed', key)));
  await untilSo(counts, (found) => found.done === 9, SOON_MS);
  t.pass('and what comes later is not fetched by the full one again');
});
