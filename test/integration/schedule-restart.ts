/**
 * An interval and a server that is killed in the middle of it: the server then counts from its restart. The time is made
 * up for within seconds, and from then on the server is in step again.
 */
import t from 'tap';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';

const EVERY_MS = 16_000;

t.test(
  'a time that the killed server left out comes seconds later, not minutes',
  { timeout: 150_000 },
  async (t) => {
    const cluster = await startSmallCluster(t);
    const { call, server } = cluster;
    await cluster.start('coordinator', 'c1');
    await call('schedule.add', {
      name: 'often',
      scraper: 'gate',
      every: `${EVERY_MS / 1_000}s`,
      now: false,
      overlap: 'queue',
    });
    const began = Date.now();
    const firedAt = async (count: number): Promise<number> => {
      const { runs } = await untilSo(
        () =>
          call<{ runs: { createdAt: number }[] }>('run.list', { scraper: 'gate' }).catch(() => ({
            runs: [],
          })),
        (found) => found.runs.length >= count,
        40_000,
      );
      t.equal(runs.length, count);
      return (runs.at(-1)?.createdAt ?? 0) - began;
    };
    const first = await firedAt(1);
    // Before its first time, the server counts from when the schedule was made, killed or not.
    await untilSo(
      async () => Date.now() - began - first,
      (ms) => ms > EVERY_MS - 2_000,
    );
    await server.kill('SIGKILL');
    await server.start();
    const second = await firedAt(2);
    // By itself the server would fire 14 s after its time, and by what was dealt with before, never in time again.
    t.ok(second - first > EVERY_MS && second - first < EVERY_MS + 13_000, `after ${second - first} ms`);
    const third = await firedAt(3);
    t.ok(Math.abs(third - second - EVERY_MS) < 3_000, `after ${third - second} ms`);
  },
);
