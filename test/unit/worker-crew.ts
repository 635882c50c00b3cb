/** The order in which a worker starts what it has in hand, without a server. */
import t from 'tap';
import { createCrew, type Crew } from '../../src/actors/worker/crew.ts';
import { WORKER_DEFAULTS, type WorkerLimits, type WorkerPorts } from '../../src/actors/worker/ports.ts';
import { createWaitingRoom } from '../../src/actors/worker/waiting-room.ts';
import { POISON_DEFAULTS } from '../../src/policy/poison.ts';
import { SETTLE_DEFAULTS } from '../../src/policy/settle.ts';
import type { Absence } from '../../src/policy/standing.ts';
import { createNotingSettler, makeDelivery } from '../kit/deliveries.ts';
import { quietLog } from '../kit/nats-server.ts';

const limits: WorkerLimits = {
  worker: 'w',
  concurrency: 2,
  leaseMs: 60_000,
  prefetchMax: 10,
  settle: SETTLE_DEFAULTS,
  poison: POISON_DEFAULTS,
  ...WORKER_DEFAULTS,
};

/** A crew whose handlers end when the test says so. */
function setUp(solo = new Map<string, number>(), absences: Readonly<Record<string, Absence>> = {}) {
  const settler = createNotingSettler();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  let beatAt = Infinity;
  let slots = limits.concurrency;
  const ports: WorkerPorts = {
    openLanes: () => {
      throw new Error('not here');
    },
    findScraper: (name) =>
      name === 'unknown' || absences[name]
        ? undefined
        : {
            name,
            run: ({ task }) =>
              new Promise<void>((resolve) => {
                started.push(task.id);
                ends.set(task.id, resolve);
              }),
          },
    judgeAbsence: (name) => absences[name] ?? 'nobody',
    storeOutcome: async () => ({ kind: 'stored' }),
    storeNext: async () => ({ kind: 'stored' }),
    async beginSolo({ id }) {
      const before = solo.get(id) ?? 0;
      solo.set(id, before + 1);
      return before;
    },
    endSolo: async ({ id }) => void solo.delete(id),
    tellInHand: () => undefined,
    withLock: (_lock, use) => use(new AbortController().signal),
    pausedBy: ({ run }) => (run === 'paused' ? 'paused' : undefined),
    isOpen: () => true,
    onCancelled: () => () => undefined,
    lastBeatAt: () => beatAt,
    announce: () => undefined,
    log: quietLog,
  };
  const crew: Crew = createCrew({
    ...{ ports, limits, settler, onChange: () => undefined },
    slots: { now: () => slots, used: () => undefined },
  });
  const end = async (id: string): Promise<void> => {
    ends.get(id)?.();
    await turn();
  };
  return {
    crew,
    started,
    notes: settler.notes,
    end,
    lapse: () => (beatAt = -Infinity),
    allow: (count: number) => (slots = count),
  };
}

/** Everything that was resolved has had its consequences. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('as many as there are slots, the highest first', async (t) => {
  const { crew, started, end, notes } = setUp();
  crew.receive(makeDelivery('a', { priority: 0 }));
  crew.receive(makeDelivery('b', { priority: 0 }));
  crew.receive(makeDelivery('low', { priority: 1 }));
  crew.receive(makeDelivery('high', { priority: 9 }));
  t.same(started, ['a', 'b']);
  await end('a');
  t.same(started, ['a', 'b', 'high']);
  t.same(notes, ['done a']);
  await end('b');
  await end('high');
  await end('low');
  t.ok(crew.isIdle());
});

t.test('with fewer slots nothing that runs is ended, and less starts', async (t) => {
  const { crew, started, end, allow } = setUp();
  for (const key of ['a', 'b', 'c', 'd']) crew.receive(makeDelivery(key));
  allow(1);
  crew.pump();
  t.equal(crew.running.size, 2);
  await end('a');
  t.same(started, ['a', 'b'], 'one more would be one too many');
  await end('b');
  t.same(started, ['a', 'b', 'c']);
  allow(2);
  crew.pump();
  t.same(started, ['a', 'b', 'c', 'd']);
});

t.test('a suspect waits until all else is settled, and runs alone', async (t) => {
  const { crew, started, end, notes } = setUp();
  crew.receive(makeDelivery('a'));
  crew.receive(makeDelivery('suspect', { deliveries: 3 }));
  crew.receive(makeDelivery('b'));
  t.same(started, ['a']);
  await end('a');
  t.same(started, ['a', 'suspect']);
  crew.receive(makeDelivery('c', { run: 'other' }));
  crew.cancel({ run: 'other' });
  await turn();
  t.same(started, ['a', 'suspect'], 'what is cancelled meanwhile lets nobody in');
  await end('suspect');
  t.same(started, ['a', 'suspect', 'b']);
  t.same(notes, ['done a', 'cancel c', 'done suspect']);
});

t.test(
  'a suspect that was started alone too often is buried; one that ended is not held to it',
  async (t) => {
    const solo = new Map([['poison', 2]]);
    const { crew, started, end, notes } = setUp(solo);
    crew.receive(makeDelivery('poison', { deliveries: 6 }));
    crew.receive(makeDelivery('innocent', { deliveries: 3 }));
    await turn();
    t.same(notes, ['POISON poison']);
    t.same(started, ['innocent']);
    t.same([...solo], [['innocent', 1]]);
    await end('innocent');
    t.equal(solo.size, 0);
  },
);

t.test('what cannot run does not take a slot', async (t) => {
  const { crew, started, notes } = setUp();
  crew.receive(makeDelivery('a', { scraper: 'unknown' }));
  crew.receive(makeDelivery('b', { run: 'paused' }));
  await turn();
  t.same(notes, ['NO_HANDLER a', 'postpone b']);
  t.same(started, []);
  t.ok(crew.isIdle());
});

t.test('what others have, or may have in a moment, is put off and not buried', async (t) => {
  const absences = { there: 'elsewhere', gone: 'awaited', never: 'nobody' } as const;
  const { crew, notes } = setUp(new Map(), absences);
  for (const scraper of Object.keys(absences)) crew.receive(makeDelivery(scraper, { scraper }));
  await turn();
  t.same(notes, ['postpone there', 'postpone gone', 'NO_HANDLER never']);
});

t.test('after a lapse nothing starts that was delivered before', async (t) => {
  const { crew, started, end, lapse } = setUp();
  for (const key of ['a', 'b', 'c']) crew.receive(makeDelivery(key));
  lapse();
  await end('a');
  t.same(started, ['a', 'b']);
  t.equal(crew.waiting.size(), 0);
});

t.test('closed, it gives back what was not started, and starts nothing', async (t) => {
  const { crew, started, notes, end } = setUp();
  for (const key of ['a', 'b', 'c']) crew.receive(makeDelivery(key));
  crew.receive(makeDelivery('second', { deliveries: 2 }));
  crew.receive(makeDelivery('suspect', { deliveries: 3 }));
  crew.close();
  t.same(
    notes,
    ['give-back c', 'give-back-anew second', 'give-back suspect'],
    'one that was never started does not become a suspect, and one that is stays so',
  );
  await end('a');
  await end('b');
  t.same(started, ['a', 'b']);
  t.ok(crew.isIdle());
});

t.test('the waiting room keeps the order of each line', async (t) => {
  const room = createWaitingRoom();
  for (let i = 0; i < 3_000; i += 1) room.add(makeDelivery(`k${i}`));
  t.equal(room.remove(({ task }) => Number(task.spec.id.slice(1)) % 3 === 0).length, 1_000);
  const order: number[] = [];
  for (let next = room.take(); next; next = room.take()) order.push(Number(next.task.spec.id.slice(1)));
  t.equal(order.length, 2_000);
  t.same(
    order,
    order.toSorted((a, b) => a - b),
  );
  t.equal(room.size(), 0);
});
