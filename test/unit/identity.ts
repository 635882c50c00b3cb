/** The beats of an actor, by a clock that the test moves. */
import t from 'tap';
import type { Bucket } from '../../src/nats/bucket.ts';
import { createIdentity } from '../../src/nats/identity.ts';
import { createFakeClock } from '../kit/fake-clock.ts';
import { quietLog } from '../kit/nats-server.ts';

t.test('one record is stored per interval: no more, and no fewer', async (t) => {
  const clock = createFakeClock();
  let stored = 0;
  let answer: (() => void) | undefined;
  let isSlow = false;
  const put: Bucket['put'] = async () => {
    if (isSlow) await new Promise<void>((resolve) => (answer = resolve));
    return (stored += 1);
  };
  const identity = createIdentity({ put } as Bucket, {
    key: 'beat.worker.w1',
    beat: {
      ...{ id: 'w1', role: 'worker', host: 'h', place: 'p', pid: 1, version: '1', startedAt: 1, beatAt: 1 },
      ...{ status: 'running', paused: false, inFlight: 0, limits: {} },
    },
    revision: 0,
    deadAfterMs: 120_000,
    log: quietLog,
    clock,
  });
  identity.start(30_000);
  await clock.pass(29_999);
  t.equal(stored, 0);
  await clock.pass(1);
  t.equal(stored, 1);
  await clock.pass(9 * 30_000);
  t.equal(stored, 10);

  identity.start(10_000);
  await clock.pass(30_000);
  t.equal(stored, 13, 'another interval takes the place of the first');

  isSlow = true;
  await clock.pass(50_000);
  isSlow = false;
  answer?.();
  await clock.pass(0);
  t.equal(stored, 14, 'while one is under way there is no other');

  await identity.end();
  t.equal(stored, 15, 'the last word');
  await clock.pass(60_000);
  t.equal(stored, 15);
});
