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

t.test('a load counts like as many messages, and goes in as a whole or not at all', async (t) => {
  const admitted: number[] = [];
  const window = createWindow<Item>({ messages: 10, bytes: 1_000 }, ({ order }) => admitted.push(order));
  t.ok(window.hold({ messages: 20, bytes: 5_000 }), 'larger than the window, it passes alone');
  t.equal(window.size(), 20);
  t.notOk(window.hold({ messages: 1, bytes: 1 }));
  t.notOk(window.enter({ bytes: 1, order: 1 }));
  const empty = window.empty();
  const room = window.room();
  window.release({ messages: 11, bytes: 4_100 });
  t.same(admitted, [1], 'who waited in line comes in as soon as there is room');
  t.equal(window.size(), 10);
  t.notOk(window.hold({ messages: 1, bytes: 1 }));
  window.release({ messages: 9, bytes: 900 });
  await room;
  t.notOk(window.hold({ messages: 10, bytes: 1 }), 'too many beside the one');
  t.notOk(window.hold({ messages: 1, bytes: 1_000 }), 'too large beside it');
  t.ok(window.hold({ messages: 9, bytes: 999 }));
  t.notOk(window.enter({ bytes: 1, order: 2 }));
  window.release({ messages: 9, bytes: 999 });
  t.same(admitted, [1, 2]);
  t.notOk(
    await Promise.race([empty.then(() => true), Promise.resolve(false)]),
    'not before the last one has left',
  );
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
