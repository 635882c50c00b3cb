import t from 'tap';
import { FIRST_TURN, pickLane, type LaneTurn } from '../../src/policy/pick-lane.ts';
import { PRIORITIES, type Priority } from '../../src/domain/task.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

t.test('nothing waits', async (t) => {
  t.same(pickLane([], FIRST_TURN), { lane: undefined, reason: 'empty', turn: FIRST_TURN });
  t.match(pickLane(lanes({}), { passedOver: 19, lastShare: 3 }), { lane: undefined });
});

t.test('the highest goes first', async (t) => {
  t.match(pickLane(lanes({ 0: 100, 9: 1 }), FIRST_TURN), { lane: 9, reason: 'highest' });
  t.match(pickLane(lanes({ 0: 1 }), { passedOver: 19, lastShare: undefined }), {
    lane: 0,
    reason: 'highest',
  });
});

t.test('the 20th start goes to a lower lane, the others to the highest', async (t) => {
  const starts = run(100, () => lanes({ 2: 50, 9: 50 }));
  const low = starts.flatMap((lane, i) => (lane === 2 ? [i + 1] : []));
  t.same(low, [20, 40, 60, 80, 100]);
});

t.test('several lower lanes take turns, from the lowest up', async (t) => {
  const starts = run(160, () => lanes({ 0: 9, 3: 9, 5: 9, 9: 9 }));
  t.same(
    starts.filter((lane) => lane !== 9),
    [0, 3, 5, 0, 3, 5, 0, 3],
  );
});

t.test('a start that passes over nobody does not count', async (t) => {
  const alone = run(500, () => lanes({ 7: 1 }));
  t.same(new Set(alone), new Set([7]));
  let turn = FIRST_TURN;
  for (let i = 0; i < 50; i += 1) ({ turn } = pickLane(lanes({ 7: 1 }), turn));
  t.same(turn, FIRST_TURN);
});

t.test('in any 100 starts with a saturated lane above, those below have their twentieth', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 60; round += 1) {
    const top = random.int(1, 9);
    const low = PRIORITIES.filter((lane) => lane < top && random.chance(0.4));
    if (low.length === 0) continue;
    const waiting = lanes(Object.fromEntries([top, ...low].map((lane) => [lane, 5])));
    // Begin anywhere in the turn: the window may open at any moment.
    const turn: LaneTurn = { passedOver: random.int(0, 19), lastShare: random.pick(PRIORITIES) };
    const starts = run(400, () => waiting, turn);
    for (let from = 0; from + 100 <= starts.length; from += 1) {
      const shared = starts.slice(from, from + 100).filter((lane) => lane !== top).length;
      if (shared !== 5) t.fail(`${shared} of 100 from ${from}: ${JSON.stringify({ top, low, turn })}`);
    }
    const counts = low.map((lane) => starts.filter((each) => each === lane).length);
    t.ok(Math.max(...counts) - Math.min(...counts) <= 1, 'the lower lanes share evenly');
  }
});

t.test('with work that comes and goes, only lanes that wait are picked', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  let turn: LaneTurn = FIRST_TURN;
  const passed = new Map<Priority, number>();
  for (let start = 0; start < 20_000; start += 1) {
    const waiting = PRIORITIES.map((lane) => (lane === 0 || random.chance(0.3) ? random.int(1, 3) : 0));
    const choice = pickLane(waiting, turn);
    turn = choice.turn;
    if (choice.lane === undefined || waiting[choice.lane] === 0) throw new Error(`picked ${choice.lane}`);
    for (const lane of PRIORITIES)
      passed.set(lane, lane === choice.lane || waiting[lane] === 0 ? 0 : (passed.get(lane) ?? 0) + 1);
    if ((passed.get(0) ?? 0) > 20 * 10) t.fail('lane 0 starves');
  }
  t.pass('20000 starts');
});

function lanes(filled: Readonly<Record<number, number>>): readonly number[] {
  return PRIORITIES.map((lane) => filled[lane] ?? 0);
}

function run(starts: number, waiting: () => readonly number[], first: LaneTurn = FIRST_TURN): Priority[] {
  let turn = first;
  return Array.from({ length: starts }, () => {
    const choice = pickLane(waiting(), turn);
    turn = choice.turn;
    if (choice.lane === undefined) throw new Error('nothing waits');
    return choice.lane;
  });
}
