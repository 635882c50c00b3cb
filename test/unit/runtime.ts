/** Stop, undo list, deadline, gate and supervision: the parts that every actor stands on. */
import t from 'tap';
import { getEventListeners } from 'node:events';
import { Failure } from '../../src/domain/failure.ts';
import { createStop, followStop, untilAborted } from '../../src/runtime/actor.ts';
import { createCleanup } from '../../src/runtime/cleanup.ts';
import { createGate } from '../../src/runtime/gate.ts';
import { supervise } from '../../src/runtime/supervise.ts';
import { withDeadline } from '../../src/runtime/with-deadline.ts';
import { createLog } from '../../src/telemetry/log.ts';

const silent = createLog({ level: 'error', format: 'json', write: () => undefined });

t.test('stopping has two steps: quiet, and abort when the grace is over', async (t) => {
  const control = createStop(5);
  t.notOk(control.stop.quiet.aborted);
  control.quiet();
  control.quiet();
  t.ok(control.stop.quiet.aborted);
  t.notOk(control.stop.abort.aborted, 'work in hand may finish');
  await untilAborted(control.stop.abort);
  t.match(control.stop.abort.reason, { code: 'CANCELLED' });
});

t.test('abort does both steps at once', async (t) => {
  const control = createStop(60_000);
  control.abort();
  t.ok(control.stop.quiet.aborted);
  t.ok(control.stop.abort.aborted);
  control.settled();
});

t.test('once everything has ended, a late stop starts no timer', async (t) => {
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const control = createStop(60_000);
  const before = timers();
  control.settled();
  control.quiet();
  t.ok(control.stop.quiet.aborted);
  t.equal(timers(), before);
});

t.test('a stop of one’s own follows another, and may come first', async (t) => {
  const parent = createStop(60_000);
  const own = followStop(parent.stop, 60_000);
  own.quiet();
  t.ok(own.stop.quiet.aborted);
  t.notOk(parent.stop.quiet.aborted);
  parent.abort();
  t.ok(own.stop.abort.aborted);
  own.settled();

  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const told = createStop(60_000);
  const other = followStop(told.stop, 60_000);
  told.drain();
  t.ok(other.stop.quiet.aborted);
  t.notOk(other.stop.abort.aborted);
  t.equal(timers(), before, 'the grace is counted once, by the one who tells');
  other.settled();
  for (const signal of [told.stop.quiet, told.stop.abort])
    t.equal(getEventListeners(signal, 'abort').length, 0);
  const late = followStop(parent.stop, 60_000);
  t.ok(late.stop.abort.aborted);
  late.settled();
  parent.settled();
});

t.test('undo functions run last-in-first-out, every one, once', async (t) => {
  const done: string[] = [];
  const cleanup = createCleanup(silent);
  cleanup.add('first', () => done.push('first'));
  cleanup.add('broken', () => {
    done.push('broken');
    throw new Error('no');
  });
  cleanup.add('last', async () => done.push('last'));
  await cleanup.run();
  await cleanup.run();
  t.same(done, ['last', 'broken', 'first']);
});

t.test('a deadline aborts its work, and leaves no listener behind', async (t) => {
  const parent = new AbortController();
  const late = withDeadline(parent.signal, 5, async (signal) => {
    await untilAborted(signal);
    throw signal.reason;
  });
  await t.rejects(late, { code: 'TIMEOUT' });
  t.equal(await withDeadline(parent.signal, 1_000, async () => 'done'), 'done');
  t.equal(getEventListeners(parent.signal, 'abort').length, 0);

  const cancelled = withDeadline(parent.signal, 60_000, async (signal) => {
    await untilAborted(signal);
    throw signal.reason;
  });
  parent.abort(new Failure('CANCELLED', 'stop'));
  await t.rejects(cancelled, { code: 'CANCELLED' });
});

t.test('a closed gate holds until it opens or the actor stops', async (t) => {
  const gate = createGate();
  const stop = new AbortController();
  await gate.passage(stop.signal);
  gate.close();
  const passed: string[] = [];
  const first = gate.passage(stop.signal).then(() => passed.push('opened'));
  t.same(passed, []);
  gate.open();
  await first;
  gate.close();
  const second = gate.passage(stop.signal);
  stop.abort();
  await second;
  t.same(passed, ['opened']);
  t.notOk(gate.isOpen());
  const forget = gate.onOpen(() => passed.push('told'));
  gate.open();
  gate.open();
  forget();
  gate.open();
  t.same(passed, ['opened', 'told', 'told']);
  t.equal(getEventListeners(stop.signal, 'abort').length, 0);
});

t.test('supervision starts a failed actor again with the delay of the policy, until it ends', async (t) => {
  const asked: number[] = [];
  let runs = 0;
  await supervise({
    name: 'x',
    log: silent,
    quiet: new AbortController().signal,
    restarts: { nextDelayMs: ({ starts }) => (asked.push(starts), 1) },
    start: async () => {
      runs += 1;
      if (runs < 4) throw new Error('boom');
    },
  });
  t.equal(runs, 4);
  t.same(asked, [1, 2, 3]);
});

t.test('supervision gives up at once on what no second try cures', async (t) => {
  let runs = 0;
  const promise = supervise({
    name: 'x',
    log: silent,
    quiet: new AbortController().signal,
    restarts: { nextDelayMs: () => 1 },
    start: async () => {
      runs += 1;
      throw new Failure('CONFLICT', 'the id is taken');
    },
  });
  await t.rejects(promise, { code: 'CONFLICT' });
  t.equal(runs, 1);
});

t.test('a stop ends the wait for the next start', async (t) => {
  const stop = new AbortController();
  await supervise({
    name: 'x',
    log: silent,
    quiet: stop.signal,
    restarts: {
      nextDelayMs: () => {
        setImmediate(() => stop.abort());
        return 60_000;
      },
    },
    start: async () => {
      throw new Error('boom');
    },
  });
  t.pass('returned');
});

t.test('a drain waits for what is in hand; a later stop counts the grace after all', async (t) => {
  const control = createStop(20);
  control.drain();
  t.ok(control.stop.quiet.aborted);
  t.notOk(control.stop.abort.aborted);
  control.quiet();
  await untilAborted(control.stop.abort);
  t.pass('aborted after the grace');

  const patient = createStop(0);
  patient.drain();
  patient.settled();
  patient.quiet();
  await new Promise(setImmediate);
  t.notOk(patient.stop.abort.aborted, 'nothing is left to abort');
});
