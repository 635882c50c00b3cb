/** Who may begin, and when. */
import t from 'tap';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { createTurns } from '../../src/actors/coordinator/turns.ts';
import { createWatermark } from '../../src/actors/coordinator/watermark.ts';

t.test('turns are served in order, and never more than there is', async (t) => {
  const turns = createTurns(10);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string, size: number): void =>
    void turns.take(size).then((end) => {
      order.push(name);
      ends.push(end);
    });
  ask('a', 6);
  ask('b', 6);
  ask('c', 1);
  await turn();
  t.same(order, ['a'], 'a small one does not overtake');
  ends[0]?.();
  ends[0]?.();
  await turn();
  t.same(order, ['a', 'b', 'c']);
  ask('giant', 1_000);
  const idle = turns.idle().then(() => order.push('idle'));
  await turn();
  t.same(order, ['a', 'b', 'c']);
  ends[1]?.();
  ends[2]?.();
  await turn();
  t.same(order.slice(0, 4), ['a', 'b', 'c', 'giant'], 'what is larger than everything waits for everything');
  ends[3]?.();
  await idle;
  await turns.idle();
});

t.test('the watermark lets in what the queue has room for, in order', async (t) => {
  let size = 0;
  let looks = 0;
  const mark = createWatermark({
    size: () => {
      looks += 1;
      return Promise.resolve(size);
    },
    limit: 100,
    everyMs: 10,
  });
  const { signal } = new AbortController();
  const first = await mark.enter(60, signal);
  const second = await mark.enter(60, signal);
  const entered: string[] = [];
  const third = mark.enter(1, signal).then((leave) => {
    entered.push('third');
    return leave;
  });
  const fourth = mark.enter(1, signal).then((leave) => {
    entered.push('fourth');
    return leave;
  });
  size = 120;
  first();
  second();
  while (looks < 3) await turn();
  t.same(entered, [], 'full');
  size = 50;
  (await third)();
  (await fourth)();
  t.same(entered, ['third', 'fourth']);
});

t.test('after a pause one goes by the old look, and the next ones by a new one', async (t) => {
  let answer: (size: number) => void = () => undefined;
  let looks = 0;
  const mark = createWatermark({
    size: () => {
      looks += 1;
      return looks === 1 ? Promise.resolve(0) : new Promise((resolve) => (answer = resolve));
    },
    limit: 100,
    everyMs: 0,
  });
  const { signal } = new AbortController();
  (await mark.enter(1, signal))();
  t.equal(looks, 1, 'the first one has nothing to go by');
  (await mark.enter(1, signal))();
  t.equal(looks, 2, 'it is being looked, but nobody waits for it');
  let entered = false;
  const next = mark.enter(1, signal).then((leave) => {
    entered = true;
    return leave;
  });
  await turn();
  t.notOk(entered, 'the queue may be full by now');
  t.equal(looks, 2, 'one look at a time');
  answer(50);
  (await next)();
});

t.test('whoever stops does not wait for room, and a look that fails fails one', async (t) => {
  let fail = false;
  const mark = createWatermark({
    size: () => (fail ? Promise.reject(new Error('away')) : Promise.resolve(500)),
    limit: 100,
    everyMs: 1,
  });
  const stop = new AbortController();
  const waiting = mark.enter(1, stop.signal);
  stop.abort();
  (await waiting)();
  fail = true;
  await t.rejects(mark.enter(1, new AbortController().signal), { message: 'away' });
});

t.test('while looks fail, nobody after the first goes by the old one', async (t) => {
  let looks = 0;
  let size = (): Promise<number> => Promise.resolve(0);
  const mark = createWatermark({
    size: () => {
      looks += 1;
      return size();
    },
    limit: 100,
    everyMs: 20,
  });
  const { signal } = new AbortController();
  (await mark.enter(1, signal))();
  await delay(25);
  size = () => Promise.reject(new Error('away'));
  (await mark.enter(1, signal))();
  await turn();
  t.equal(looks, 2, 'one goes by the old look, and the new one fails');
  await t.rejects(mark.enter(1, signal), { message: 'away' });
  await t.rejects(mark.enter(1, signal), { message: 'away' });
  t.equal(looks, 4, 'each of those asked anew');
  size = () => Promise.resolve(500);
  const stop = new AbortController();
  let entered = false;
  const full = mark.enter(1, stop.signal).then((leave) => {
    entered = true;
    return leave;
  });
  while (looks < 6) await turn();
  t.notOk(entered, 'what the first look that succeeds says is what counts');
  stop.abort();
  (await full)();
});
