import t from 'tap';
import { planRegroup } from '../../src/policy/regroup.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const CONFLICT = 10071;
const none: ReadonlySet<number> = new Set();

t.test('halves, then singles', async (t) => {
  t.same(planRegroup({ size: 7, code: CONFLICT, suspects: none }), {
    singles: [],
    batches: [
      [0, 1, 2],
      [3, 4, 5, 6],
    ],
  });
  t.same(planRegroup({ size: 2, code: CONFLICT, suspects: none }), { singles: [0, 1], batches: [] });
});

t.test('a full stream: each for itself', async (t) => {
  t.same(planRegroup({ size: 6, code: 10077, suspects: none }), { singles: [0, 1, 2, 3, 4, 5], batches: [] });
});

t.test('suspects go by themselves, the rest stays together', async (t) => {
  t.same(planRegroup({ size: 6, code: CONFLICT, suspects: new Set([1, 4]) }), {
    singles: [1, 4],
    batches: [[0, 2, 3, 5]],
  });
  t.same(planRegroup({ size: 2, code: CONFLICT, suspects: new Set([0, 1]) }), {
    singles: [0, 1],
    batches: [],
  });
});

t.test('whoever is at fault, everybody gets an answer, in order', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 300; round += 1) {
    const size = random.int(2, 70);
    const bad = new Set(
      Array.from({ length: size }, (_, i) => i).filter(() => random.chance(random.next() / 2)),
    );
    const hints = random.chance(0.5) ? new Set([...bad].filter(() => random.chance(0.7))) : none;
    const answered: number[] = [];
    let sends = 0;
    const deliver = (group: readonly number[]): void => {
      sends += 1;
      if (group.length === 1 || !group.some((member) => bad.has(member))) answered.push(...group);
      else {
        const suspects = new Set([...group.keys()].filter((position) => hints.has(group[position] ?? -1)));
        const plan = planRegroup({ size: group.length, code: CONFLICT, suspects });
        const members = (positions: readonly number[]): number[] => positions.map((i) => group[i] ?? -1);
        for (const member of members(plan.singles)) deliver([member]);
        for (const batch of plan.batches) deliver(members(batch));
      }
    };
    deliver([...Array(size).keys()]);
    const inOrder = [...answered].sort((a, b) => a - b);
    t.same(inOrder, [...Array(size).keys()], 'each exactly once');
    if (hints.size === 0) t.same(answered, inOrder, 'in order');
    t.ok(sends <= 2 * size + 1, 'no more sends than twice the members');
  }
});
