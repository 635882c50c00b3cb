import t from 'tap';
import { judgeDelivery, POISON_DEFAULTS } from '../../src/policy/poison.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

t.test('trusted twice, then alone, then buried', async (t) => {
  const table: readonly [deliveries: number, soloStarts: number, verdict: string, reason: string][] = [
    [1, 0, 'run', 'trusted'],
    [2, 0, 'run', 'trusted'],
    [3, 0, 'run-alone', 'suspect'],
    [4, 1, 'run-alone', 'suspect'],
    [50, 1, 'run-alone', 'suspect'], // it waited for others that died, and is no more to blame for it
    [5, 2, 'bury', 'poison'],
    [9, 7, 'bury', 'poison'],
    [1, 2, 'run', 'trusted'], // it was settled since, as a retry: this message is a new one
  ];
  for (const [deliveries, soloStarts, verdict, reason] of table) {
    const judged = judgeDelivery({ deliveries, soloStarts }, POISON_DEFAULTS);
    t.match(judged, { verdict, reason }, `${deliveries} deliveries, ${soloStarts} alone`);
  }
  const buried = judgeDelivery({ deliveries: 5, soloStarts: 2 }, POISON_DEFAULTS);
  t.match(buried, { message: /delivered 5 times, started alone 2 times/ });
});

t.test('poison ends, and takes no neighbour with it', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 100; round += 1) {
    const tasks = Array.from({ length: 60 }, (_, id) => ({ id, deliveries: 0, solo: 0, fate: '' }));
    const poison = new Set(Array.from({ length: random.int(1, 3) }, () => random.int(0, 59)));
    // Each turn is one life of a worker: it takes what is open, and dies of the first poison that it starts.
    for (let life = 0; tasks.some(({ fate }) => fate === ''); life += 1) {
      if (life > 500) throw new Error('it never ends');
      liveOnce(
        tasks.filter(({ fate }) => fate === ''),
        poison,
      );
    }
    const buried = tasks.filter(({ fate }) => fate === 'buried').map(({ id }) => id);
    t.same(new Set(buried), poison);
  }
});

interface Simulated {
  readonly id: number;
  deliveries: number;
  solo: number;
  fate: string;
}

function liveOnce(held: readonly Simulated[], poison: ReadonlySet<number>): void {
  for (const task of held) task.deliveries += 1;
  const verdicts = held.map((task) => ({
    task,
    verdict: judgeDelivery({ deliveries: task.deliveries, soloStarts: task.solo }, POISON_DEFAULTS).verdict,
  }));
  for (const { task, verdict } of verdicts) if (verdict === 'bury') task.fate = 'buried';
  const together = verdicts.filter(({ verdict }) => verdict === 'run').map(({ task }) => task);
  if (together.some(({ id }) => poison.has(id))) return;
  for (const task of together) task.fate = 'done';
  for (const { task, verdict } of verdicts) {
    if (verdict !== 'run-alone') continue;
    task.solo += 1;
    if (poison.has(task.id)) return;
    task.fate = 'done';
  }
}
