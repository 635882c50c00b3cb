import t from 'tap';
import { refillLanes } from '../../src/actors/worker/refill.ts';
import type { LaneQueue, Lanes } from '../../src/actors/worker/ports.ts';
import { createRandom } from '../kit/random.ts';

interface Stock extends LaneQueue {
  left: number;
  asked: number;
}

/** Queues of one priority, as the adapter keeps them: who is asked goes to the end. */
function createQueues(stocks: readonly number[]): { lanes: Lanes; queues: Stock[] } {
  let order: Stock[] = [];
  const queues = stocks.map((left): Stock => {
    const queue: Stock = {
      left,
      asked: 0,
      requested: () => queue.asked,
      request(count) {
        queue.asked += count;
        order = [...order.filter((each) => each !== queue), queue];
      },
      withdraw: () => (queue.asked = 0),
    };
    return queue;
  });
  order = queues;
  return { lanes: { queues: (lane: number) => (lane === 5 ? order : []) } as unknown as Lanes, queues };
}

const waiting = (held: number): number[] => [0, 0, 0, 0, 0, held, 0, 0, 0, 0];

t.test('one queue has all of the room', (t) => {
  const { lanes, queues } = createQueues([0]);
  refillLanes(lanes, 100, waiting(40));
  t.equal(queues[0]?.asked, 60);
  refillLanes(lanes, 100, waiting(0));
  t.equal(queues[0]?.asked, 60, 'little is not asked for');
  refillLanes(lanes, 0, waiting(0));
  t.equal(queues[0]?.asked, 0);
  t.end();
});

t.test('one that is new gets its part at once of what the others were asked for', (t) => {
  const { lanes, queues } = createQueues([0, 0, 0]);
  const [first, second, third] = queues;
  const only = (...some: (Stock | undefined)[]): Lanes =>
    ({ queues: (lane: number) => (lane === 5 ? some : []) }) as unknown as Lanes;
  refillLanes(only(first), 20, waiting(0));
  refillLanes(only(first, second), 20, waiting(0));
  t.same([first?.asked, second?.asked], [10, 10]);
  refillLanes(lanes, 20, waiting(0));
  t.same([first?.asked, second?.asked, third?.asked], [6, 6, 6]);
  if (second) second.asked = 0; // six have come
  refillLanes(lanes, 20, waiting(6));
  t.same([first?.asked, second?.asked, third?.asked], [6, 0, 6], 'what the others have is left alone');
  t.end();
});

t.test('several share it: no more is held than of one, and none of them is passed over', (t) => {
  const random = createRandom(11);
  for (let round = 0; round < 200; round += 1) {
    const target = random.int(1, 60);
    const { lanes, queues } = createQueues(
      Array.from({ length: random.int(1, 8) }, () => (random.chance(0.3) ? 0 : random.int(1, 200))),
    );
    const bound = Math.max(target, queues.length);
    let held = 0;
    let worst = 0;
    for (let step = 0; step < 5_000 && queues.some(({ left }) => left > 0); step += 1) {
      refillLanes(lanes, target, waiting(held));
      worst = Math.max(worst, held + queues.reduce((sum, { asked }) => sum + asked, 0));
      for (const queue of queues) {
        const came = Math.min(queue.asked, queue.left, random.int(0, target));
        queue.asked -= came;
        queue.left -= came;
        held += came;
      }
      held -= Math.min(held, random.int(1, target));
    }
    if (worst > bound) t.fail(`${worst} were held or asked for, of ${bound}`, { target });
    if (queues.some(({ left }) => left > 0)) t.fail('a queue was passed over', { target });
  }
  t.end();
});
