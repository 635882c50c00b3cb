/** When the leader looks at a run, and what must hold before it ends one. */
import t from 'tap';
import { createEndCheck } from '../../src/actors/coordinator/run-end-check.ts';
import { NO_COUNTS, type CountRecord } from '../../src/policy/counters.ts';
import type { RunRecord } from '../../src/wire/run-record.ts';

const OPEN: RunRecord = {
  id: 'r',
  scraper: 'shop',
  state: 'active',
  priority: 0,
  createdAt: 0,
  startedAt: 0,
  lastSubmitAt: 0,
  taken: 1,
  standing: false,
};
const RUN: RunRecord = { ...OPEN, sealed: { messages: 1 } };

interface World {
  now: number;
  ledgerSeq: number;
  counts: CountRecord;
  intakeOpen: number;
  stored: RunRecord;
  looks: number;
  beforeSecondLook: () => void;
}

function start(patch: Partial<World> = {}): {
  world: World;
  check: (run?: RunRecord) => Promise<RunRecord[]>;
} {
  const world: World = {
    now: 0,
    ledgerSeq: 1,
    counts: { ...NO_COUNTS, accepted: 2, done: 2 },
    intakeOpen: 0,
    stored: RUN,
    looks: 0,
    beforeSecondLook: () => undefined,
    ...patch,
  };
  const check = createEndCheck(
    {
      now: () => world.now,
      ledger: {
        lastSeq: () => Promise.resolve(world.ledgerSeq),
        counts: () => {
          world.looks += 1;
          return Promise.resolve({ ...world.counts, recent: [] });
        },
      },
      intake: {
        openOf: () => {
          world.beforeSecondLook();
          return Promise.resolve(world.intakeOpen);
        },
      },
      change: (_, change) => {
        const run = change(world.stored);
        if (run) world.stored = run;
        return Promise.resolve(run && { run, revision: 1 });
      },
    },
    { idleEndMs: 30_000 },
  );
  return { world, check: async (run = world.stored) => (await check([run])).map((ended) => ended.run) };
}

t.test('a sealed run with everything settled ends, with its counts', async (t) => {
  const { world, check } = start({
    now: 77,
    counts: { ...NO_COUNTS, accepted: 3, done: 2, dead: 1, items: 4 },
  });
  t.match(await check(), [
    { state: 'done_with_errors', endedAt: 77, final: { total: 3, done: 2, dead: 1, items: 4 } },
  ]);
  t.same(await check(), [], 'once');
  t.equal(world.looks, 2);
});

t.test('it goes on while anything is open, hidden or changing', async (t) => {
  t.same(await start({ counts: { ...NO_COUNTS, accepted: 3, done: 2 } }).check(), []);
  t.same(await start({ intakeOpen: 1 }).check(), []);
  t.same(await start({ stored: { ...RUN, standing: true } }).check(), []);
  t.same(
    await start({ stored: { ...RUN, taken: 0 } }).check(),
    [],
    'a message that it counts on has not come',
  );
  const moving = start();
  moving.world.beforeSecondLook = () => (moving.world.counts = { ...NO_COUNTS, accepted: 3, done: 2 });
  t.same(await moving.check(), [], 'a task was accepted between the two readings');
  const taken = start();
  taken.world.beforeSecondLook = () => (taken.world.stored = { ...RUN, taken: 2 });
  t.same(await taken.check(), [], 'a message was taken in before the end was stored');
});

t.test('a run that is not sealed, or whose count was lost, ends when it has been idle', async (t) => {
  for (const stored of [OPEN, { ...RUN, taken: 0 }]) {
    const { world, check } = start({ stored });
    t.same(await check(), []);
    world.now = 29_999;
    t.same(await check(), []);
    t.equal(world.looks, 2, 'it is not looked at before its time');
    world.now = 30_000;
    t.match(await check(), [{ state: 'done' }]);
  }
});

t.test('nobody looks while nothing changes, nor at a run that has far to go', async (t) => {
  const { world, check } = start({ counts: { ...NO_COUNTS, accepted: 100_000 } });
  await check();
  world.ledgerSeq = 2;
  world.now = 4_999;
  await check();
  t.equal(world.looks, 1, '100,000 tasks are not settled in five seconds');
  world.now = 5_000;
  await check();
  t.equal(world.looks, 2);
  world.now = 60_000;
  await check();
  t.equal(world.looks, 2, 'the ledger has not changed');
});
