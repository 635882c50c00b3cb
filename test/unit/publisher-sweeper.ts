/** What looks after something sleeps while there is nothing to look after. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { createSweeper } from '../../src/nats/publisher/sweeper.ts';

t.test('it looks while something is left, and not before or after', async (t) => {
  let left = 0;
  let looks = 0;
  const sweeper = createSweeper(5, () => {
    looks += 1;
    left -= 1;
    return left > 0;
  });
  t.teardown(() => sweeper.close());
  await delay(40);
  t.equal(looks, 0, 'nothing to look after');
  left = 3;
  sweeper.arm();
  sweeper.arm();
  while (left > 0) await delay(5);
  await delay(40);
  t.equal(looks, 3, 'until nothing was left');
  left = 1;
  sweeper.arm();
  while (left > 0) await delay(5);
  t.equal(looks, 4, 'and again for the next');
});

t.test('what comes during a look is looked after', async (t) => {
  let looks = 0;
  const sweeper = createSweeper(5, () => {
    looks += 1;
    if (looks === 1) sweeper.arm();
    return looks === 1;
  });
  t.teardown(() => sweeper.close());
  sweeper.arm();
  await delay(60);
  t.equal(looks, 2, 'by one timer');
});

t.test('closed, it looks no more', async (t) => {
  let looks = 0;
  const sweeper = createSweeper(5, () => {
    looks += 1;
    sweeper.close();
    return true;
  });
  sweeper.arm();
  await delay(40);
  sweeper.arm();
  await delay(40);
  t.equal(looks, 1);
});
