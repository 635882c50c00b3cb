import t from 'tap';
import {
  loadOfAll,
  loadOfRun,
  summarizeInHand,
  type InHand,
  type LoadFacts,
} from '../../src/policy/run-load.ts';
import { describeCounts, NO_COUNTS } from '../../src/policy/counters.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const facts: LoadFacts = {
  cluster: { running: 9, deferred: 7 },
  workers: 2,
  inHand: [
    { runs: [['a', 2]], other: 0 },
    {
      runs: [
        ['b', 4],
        ['a', 1],
      ],
      other: 0,
    },
  ],
  deferred: new Map([['a', 5]]),
};

t.test('the workers tell what they have in hand of a run, the server what waits', async (t) => {
  const exact = { running: true, deferred: true };
  t.same(loadOfRun('a', facts), { running: 3, deferred: 5, exact });
  t.same(loadOfRun('b', facts), { running: 4, deferred: 0, exact });
  t.same(loadOfRun('nobody', facts), { running: 0, deferred: 0, exact });
  t.same(loadOfAll(facts), { running: 7, deferred: 7, exact });
});

t.test('what is not told is not called exact', async (t) => {
  const silent = { ...facts, workers: 3 };
  t.match(loadOfRun('a', silent), { running: 3, exact: { running: false } }, 'one did not answer');
  t.match(loadOfRun('nobody', { ...silent, inHand: [] }), { running: 9, exact: { running: false } });
  t.match(loadOfAll(silent), { running: 9, exact: { running: false } });
  const many: InHand = { runs: [['z', 9]], other: 3 };
  t.match(loadOfRun('a', { ...facts, inHand: [many], workers: 1 }), {
    running: 0,
    exact: { running: false },
  });
  t.match(loadOfRun('z', { ...facts, inHand: [many], workers: 1 }), { running: 9, exact: { running: true } });
  t.match(loadOfRun('a', { ...facts, deferred: undefined }), { deferred: 7, exact: { deferred: false } });
  t.match(loadOfRun('a', { ...facts, workers: 0, inHand: [] }), { running: 9, exact: { running: false } });
  const idle = { ...facts, cluster: { running: 0, deferred: 0 }, workers: 0, inHand: [] };
  t.match(loadOfRun('a', idle), { running: 0, exact: { running: true } });
});

t.test('a worker tells of few runs, and of the one that was asked for', async (t) => {
  const tasks = new Map(Array.from({ length: 100 }, (_, n) => [`r${n}`, n + 1]));
  const told = summarizeInHand(tasks, 'r0');
  t.equal(told.runs.length, 33);
  t.same(told.runs[0], ['r99', 100]);
  t.same(told.runs.at(-1), ['r0', 1]);
  t.equal(told.other + told.runs.reduce((sum, [, count]) => sum + count, 0), 5_050);
  t.same(summarizeInHand(new Map([['__proto__', 2]])), { runs: [['__proto__', 2]], other: 0 });
});

t.test('whatever is told, the figures add up', async (t) => {
  const random = createRandom(chooseSeed());
  for (let round = 0; round < 500; round += 1) {
    const told = Array.from({ length: random.int(0, 3) }, (): InHand => ({
      runs: [['a', random.int(0, 50)]],
      other: random.int(0, 2),
    }));
    const seen = loadOfRun('a', {
      cluster: { running: random.int(0, 99), deferred: random.int(0, 99) },
      workers: random.int(0, 3),
      inHand: told,
      deferred: random.int(0, 1) === 0 ? undefined : new Map([['a', random.int(0, 99)]]),
    });
    const counts = { ...NO_COUNTS, accepted: 60, done: random.int(0, 20), dead: random.int(0, 20) };
    const { total, queued, running, deferred, done, dead, cancelled } = describeCounts(counts, seen);
    if (total !== queued + running + deferred + done + dead + cancelled || queued < 0)
      t.fail(JSON.stringify(seen));
  }
});
