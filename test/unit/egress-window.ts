import t from 'tap';
import { createDueHeap, type Due } from '../../src/policy/egress/due-heap.ts';
import { addNumber, countNumbers, createNumberSet } from '../../src/policy/egress/number-set.ts';
import { createSortedList } from '../../src/policy/egress/sorted-list.ts';
import { createMeter, freeAt, roomOf, spend, spentOf, usedIn } from '../../src/policy/egress/window.ts';
import { createRandom } from '../kit/random.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

t.test('a request leaves the window one window after it was over, and not a moment earlier', async (t) => {
  const start = 1_000 * HOUR;
  for (const [caps, windowMs] of [
    [{ perHour: 1, perMinute: 0 }, HOUR],
    [{ perHour: 0, perMinute: 1 }, MINUTE],
  ] as const) {
    const meter = createMeter();
    meter.held = 1;
    t.equal(roomOf(meter, caps, start), 0, 'granted counts');
    t.equal(freeAt(meter, caps, start), Infinity, 'nobody knows when it is over');
    meter.held = 0;
    spend(meter, start, 1);
    t.equal(roomOf(meter, caps, start + windowMs - 1), 0);
    t.equal(freeAt(meter, caps, start), start + windowMs);
    t.equal(roomOf(meter, caps, start + windowMs), 1);
  }
});

t.test('times are rounded up, by less than a hundredth of the window', async (t) => {
  const meter = createMeter();
  const caps = { perHour: 10, perMinute: 0 };
  spend(meter, 1_000 * HOUR + 1, 10);
  const at = freeAt(meter, caps, 1_000 * HOUR + 1);
  t.ok(at > 1_001 * HOUR && at <= 1_001 * HOUR + HOUR / 100, String(at));
});

t.test('the stricter window decides, and both are told', async (t) => {
  const meter = createMeter();
  const start = 1_000 * HOUR;
  spend(meter, start, 3);
  t.equal(roomOf(meter, { perHour: 5, perMinute: 3 }, start), 0);
  t.equal(freeAt(meter, { perHour: 5, perMinute: 3 }, start), start + MINUTE);
  t.equal(freeAt(meter, { perHour: 3, perMinute: 3 }, start), start + HOUR);
  t.strictSame(usedIn(meter, start + MINUTE), { hour: 3, minute: 0 });
  t.strictSame(spentOf(meter, start + MINUTE), { hour: [[start, 3]], minute: [] });
  t.equal(roomOf(meter, { perHour: 0, perMinute: 0 }, start), Infinity, '0 is no limit');
});

t.test('the heap gives the earliest first, whatever was moved or taken out', async (t) => {
  const random = createRandom(7);
  const heap = createDueHeap<Due & { id: number }>();
  const items = Array.from({ length: 300 }, (_, id) => ({ id, dueAt: 0, heapAt: -1 }));
  const times = new Map<number, number>();
  for (let step = 0; step < 5_000; step += 1) {
    const item = items[random.int(0, 299)];
    if (!item) continue;
    if (random.chance(0.7)) {
      const at = random.int(0, 1_000);
      heap.set(item, at);
      times.set(item.id, at);
    } else {
      heap.remove(item);
      times.delete(item.id);
    }
    const least = Math.min(...times.values());
    if ((heap.first()?.dueAt ?? Infinity) !== least) t.fail(`step ${step}`);
    const odd = Math.min(...[...times].filter(([id]) => id % 2 === 1).map(([, at]) => at));
    if (heap.least(({ id, dueAt }) => (id % 2 === 1 ? dueAt : Infinity)) !== odd) t.fail(`least at ${step}`);
  }
  t.equal(heap.size(), times.size);
  let last = 0;
  for (let item = heap.takeDue(1_000); item; item = heap.takeDue(1_000)) {
    t.ok(item.dueAt >= last);
    last = item.dueAt;
  }
  t.equal(heap.size(), 0);
});

t.test('the list stays in order', async (t) => {
  const random = createRandom(11);
  const list = createSortedList<number>((a, b) => a - b);
  const inside = new Set<number>();
  for (let step = 0; step < 6_000; step += 1) {
    const number = random.int(0, 2_000);
    if (inside.has(number)) {
      if (!list.remove(number)) t.fail('it was there');
      inside.delete(number);
    } else {
      if (list.remove(number)) t.fail('it was not there');
      list.add(number);
      inside.add(number);
    }
  }
  const walked: number[] = [];
  list.walk((number) => walked.push(number) > 0);
  const expected = [...inside].sort((a, b) => a - b);
  t.strictSame(walked, expected);
  t.equal(list.size(), expected.length);
  t.strictSame(
    [0, 500, expected.length - 1, expected.length].map((index) => list.at(index)),
    [expected[0], expected[500], expected.at(-1), undefined],
  );
});

t.test('numbers are counted once, in whatever order they come', async (t) => {
  const random = createRandom(3);
  const set = createNumberSet();
  const model = new Set<number>();
  for (let step = 0; step < 2_000; step += 1) {
    const n = random.int(0, 400);
    if (addNumber(set, n) === model.has(n)) t.fail(`${n} at ${step}`);
    model.add(n);
    if (countNumbers(set) !== model.size) t.fail(`count at ${step}`);
  }
  t.strictSame(
    [addNumber(createNumberSet(3, [5]), 2), addNumber(createNumberSet(3, [5]), 5)],
    [false, false],
  );
});
