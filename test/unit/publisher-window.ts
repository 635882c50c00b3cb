import t from 'tap';
import { createWindow } from '../../src/nats/publisher/window.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

interface Item {
  readonly bytes: number;
  readonly order: number;
}

t.test('whoever comes and goes, the limits hold and nobody overtakes', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  const inside: Item[] = [];
  const entered: number[] = [];
  const admit = (item: Item): void => {
    inside.push(item);
    entered.push(item.order);
  };
  const window = createWindow<Item>({ messages: 10, bytes: 1_000 }, admit);
  const leave = (): void => {
    const [gone] = inside.splice(random.int(0, inside.length - 1), 1);
    if (gone) window.leave(gone);
  };
  for (let order = 0; order < 5_000; order += 1) {
    const item = { bytes: random.chance(0.01) ? 5_000 : random.int(0, 300), order };
    if (window.enter(item)) admit(item);
    const bytes = inside.reduce((sum, { bytes: size }) => sum + size, 0);
    if (inside.length > 10 || (bytes > 1_000 && inside.length > 1))
      t.fail(`${inside.length} items, ${bytes} bytes`);
    while (inside.length > 0 && random.chance(0.55)) leave();
  }
  while (inside.length > 0) leave();
  t.same(entered, [...Array(5_000).keys()], 'all entered, in order');
  t.equal(window.size(), 0);
  t.equal(window.room(), undefined);
  await window.empty();
});

t.test('room is promised when there is none', async (t) => {
  const window = createWindow<Item>({ messages: 2, bytes: 1_000 }, () => undefined);
  const [a, b] = [
    { bytes: 1, order: 1 },
    { bytes: 1, order: 2 },
  ];
  t.equal(window.room(), undefined);
  t.ok(window.enter(a));
  t.ok(window.enter(b));
  const room = window.room();
  t.ok(room);
  const empty = window.empty();
  window.leave(a);
  await room;
  t.equal(window.room(), undefined);
  window.leave(b);
  await empty;
});
