/** Holding back and letting go: quiet, abort, pause, cancel, an empty queue, and what the cluster is told meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createGate } from '../../src/runtime/gate.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { keys } from '../../src/wire/names.ts';
import { listen, text } from '../kit/cluster-bucket.ts';
import { createPromise } from '../kit/promise.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld, type NewTask, type TaskWorld } from '../kit/task-world.ts';

const server = await startNatsServer(t);
const world = await createTaskWorld(t, server);
const { connection } = world;

const list = (count: number, task: Omit<NewTask, 'key'>): NewTask[] =>
  Array.from({ length: count }, (_, i) => ({ ...task, key: `k${i}` }));

/** A handler that waits for the test, and tells when so many have begun. */
function createStage(name: string, expected: number) {
  const full = createPromise();
  const go = createPromise();
  let begun = 0;
  return {
    full: full.promise,
    go: () => go.resolve(),
    begun: () => begun,
    scraper: {
      name,
      async run({ signal }: { signal: AbortSignal }) {
        begun += 1;
        if (begun === expected) full.resolve();
        const stopped = new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
        await Promise.race([go.promise, stopped]);
      },
    },
  };
}

t.test('quiet: what runs is finished, the rest goes to others at once', async (t) => {
  const settled = await world.follow('quiet');
  const stage = createStage('quiet', 2);
  const leaver = startWorker(t, {
    connection,
    limits: { worker: 'leaver', concurrency: 2 },
    scrapers: [stage.scraper],
  });
  await world.put(list(6, { run: 'quiet', scraper: 'quiet' }));
  await stage.full;
  leaver.quiet();
  startWorker(t, {
    connection,
    limits: { worker: 'stayer' },
    scrapers: [{ name: 'quiet', run: async () => 1 }],
  });
  await settled.until(4);
  t.equal(leaver.inFlight(), 2);
  stage.go();
  await leaver.ended;
  const outcomes = await settled.until(6);
  const by = [...outcomes.values()].map((outcome) => (outcome.state === 'done' ? outcome.worker : ''));
  t.equal(by.filter((worker) => worker === 'leaver').length, 2);
  t.match(await world.reader.counts('quiet'), { done: 6 });
});

t.test('however often it is given back unstarted, no task becomes a suspect', async (t) => {
  const settled = await world.follow('passed-on');
  const said: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => void said.push(line) });
  const tasks = 400;
  await world.put(list(tasks, { run: 'passed-on', scraper: 'passed-on' }));
  for (let each = 0; each < 4; each += 1) {
    // Quick at first, so that it fetches ahead; then it waits, with its hands full.
    const stage = createStage('passed-on', 1);
    let quick = 20;
    const run: typeof stage.scraper.run = async (context) => {
      quick -= 1;
      if (quick < 0) await stage.scraper.run(context);
    };
    const worker = startWorker(t, {
      connection,
      log,
      limits: { concurrency: 1 },
      scrapers: [{ name: 'passed-on', run }],
    });
    await stage.full;
    worker.quiet();
    stage.go();
    await worker.ended;
  }
  startWorker(t, { connection, log, scrapers: [{ name: 'passed-on', run: async () => 1 }] });
  await settled.until(tasks);
  t.match(await world.reader.counts('passed-on'), { accepted: tasks, done: tasks });
  t.equal(said.filter((line) => line.includes('task.alone')).length, 0);
});

t.test('abort: what runs is given back, and it is no fault of its own', async (t) => {
  const settled = await world.follow('abort');
  const stage = createStage('abort', 3);
  const leaver = startWorker(t, { connection, scrapers: [stage.scraper] });
  await world.put(list(3, { run: 'abort', scraper: 'abort' }));
  await stage.full;
  leaver.abort();
  await leaver.ended;
  startWorker(t, { connection, scrapers: [{ name: 'abort', retries: 0, run: async () => 1 }] });
  const outcomes = await settled.until(3);
  t.ok([...outcomes.values()].every(({ state, faults }) => state === 'done' && faults.length === 0));
});

t.test('a paused task is put off, and nothing is held against it', async (t) => {
  const settled = await world.follow('paused');
  let paused = true;
  startWorker(t, {
    connection,
    pausedBy: ({ run, key }) => (paused && run === 'paused' && key === 'a' ? 'the run is paused' : undefined),
  });
  const [spec] = await world.put(['a', 'b'].map((key) => ({ run: 'paused', key })));
  await settled.until(1);
  t.same([...settled.outcomes.keys()], ['b']);
  const schedule = await untilParked(world, { run: 'paused', id: spec?.id ?? '' });
  const inMs = Date.parse(schedule.slice('@at '.length)) - Date.now();
  t.ok(inMs > 24 * 3_600_000, `stays where it is until somebody fetches it, not ${inMs} ms`);
  paused = false;
});

t.test('a closed gate takes nothing', async (t) => {
  const settled = await world.follow('gate');
  const gate = createGate();
  startWorker(t, { connection, isOpen: () => gate.isOpen(), onOpen: (listener) => gate.onOpen(listener) });
  await world.put([{ run: 'gate', key: 'before' }]);
  await settled.until(1);
  gate.close();
  await delay(600);
  await world.put([{ run: 'gate', key: 'after' }]);
  await delay(300);
  t.equal(settled.outcomes.size, 1);
  gate.open();
  await settled.until(2);
});

t.test('cancelled tasks end at once: those that run and those that wait', async (t) => {
  const settled = await world.follow('cancel');
  const stage = createStage('cancel', 2);
  const worker = startWorker(t, { connection, limits: { concurrency: 2 }, scrapers: [stage.scraper] });
  const [first] = await world.put(list(2, { run: 'cancel', scraper: 'cancel' }));
  await stage.full;
  await world.put([{ run: 'cancel', scraper: 'cancel', key: 'waits' }]);
  worker.cancel({ run: 'cancel', id: first?.id });
  t.match((await settled.until(1)).get('k0'), { state: 'cancelled', reason: 'it was cancelled', faults: [] });
  worker.cancel({ run: 'cancel' });
  t.match((await settled.until(2)).get('k1'), { state: 'cancelled', reason: 'its run was cancelled' });
  stage.go();
  await settled.until(3);
});

t.test('works until nothing is left, also nothing delayed', async (t) => {
  const settled = await world.follow('empty');
  let failures = 0;
  await world.put(list(20, { run: 'empty', scraper: 'empty' }));
  const worker = startWorker(t, {
    connection,
    untilEmpty: { run: 'empty' },
    scrapers: [
      {
        name: 'empty',
        async run({ task, attempt }) {
          if (task.key !== 'k7' || attempt === 3) return;
          failures += 1;
          throw new Error('again');
        },
      },
    ],
  });
  await worker.ended;
  t.equal(failures, 2);
  t.equal(settled.outcomes.size, 20);
});

t.test('one of a scraper alone ends when nothing of that one is left', async (t) => {
  await world.put([{ run: 'two', scraper: 'first', key: 'a' }]);
  await world.put([{ run: 'two', scraper: 'second', key: 'b', own: true }]);
  const worker = startWorker(t, {
    connection,
    untilEmpty: { run: 'two' },
    onlyScraper: 'first',
    scrapers: [{ name: 'first', run: () => Promise.resolve() }],
  });
  await worker.ended;
  t.match(await world.reader.counts('two'), { accepted: 2, done: 1, dead: 0 });
});

t.test('the cluster is told what is in hand for a while', async (t) => {
  const heard = await listen(t, world.bucket, keys.allInHand);
  const stage = createStage('hand', 1);
  const worker = startWorker(t, { connection, limits: { worker: 'busy' }, scrapers: [stage.scraper] });
  const [spec] = await world.put([{ run: 'hand', scraper: 'hand', key: 'a' }]);
  const { entry } = await heard.until(({ key, entry }) => key === 'hand.busy.1' && entry !== undefined);
  t.match(JSON.parse(text(entry?.value) ?? ''), [
    {
      run: 'hand',
      id: spec?.id,
      scraper: 'hand',
      since: Number,
      attempt: 1,
      reply: /^\$JS\.ACK\.TASKS\.p5\.1\./,
    },
  ]);
  stage.go();
  await heard.until(({ key, entry }) => key === 'hand.busy.1' && text(entry?.value) === '[]');
  worker.quiet();
  await worker.ended;
});

t.test('a message that is no task ends the task whose place it takes', async (t) => {
  const settled = await world.follow('garbage');
  const subject = world.names.task({ priority: 5, scraper: 'noop', run: 'garbage', id: 'none' });
  await connection.js.publish(subject, 'what?');
  const [spec] = await world.put([{ run: 'garbage', key: 'a', scraper: 'later' }]);
  const taken = world.names.task({ priority: 6, scraper: 'later', run: 'garbage', id: spec?.id ?? '' });
  await connection.js.publish(taken, 'what?');
  startWorker(t, { connection, pausedBy: ({ scraper }) => (scraper === 'later' ? 'later' : undefined) });
  t.match((await settled.until(1)).get('a'), {
    state: 'dead',
    error: { code: 'INVALID', message: /cannot be read/ },
  });
});

async function untilParked(
  { connection, names }: TaskWorld,
  task: { run: string; id: string },
): Promise<string> {
  const enough = AbortSignal.timeout(10_000);
  for (;;) {
    const query = { last_by_subj: names.parked(task) };
    const stored = await connection.jsm.streams.getMessage(names.stream('TASKS'), query);
    if (stored) return stored.header.get('Nats-Schedule');
    enough.throwIfAborted();
  }
}
