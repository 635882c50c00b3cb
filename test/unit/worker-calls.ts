import t from 'tap';
import { createCalls, type CallParts } from '../../src/actors/worker/calls.ts';
import type { TaskSpec } from '../../src/domain/task.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { quietLog } from '../kit/nats-server.ts';

const spec = (scraper: string, input: Record<string, unknown> = {}): TaskSpec => ({
  ...{ id: 'x', run: 'call', scraper, key: 'x', input, priority: 5, createdAt: 0 },
});

const scrapers: Scraper[] = [
  {
    name: 'shop',
    async run({ emit, input }) {
      emit({ input });
      return { note: 1 };
    },
  },
  {
    name: 'hold',
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  },
  { name: 'deaf', run: () => new Promise(() => undefined) },
  { name: 'bad', run: () => Promise.reject(new Error('it fails')) },
];

function makeCalls(changes: Partial<CallParts> = {}): ReturnType<typeof createCalls> {
  return createCalls({
    ports: {
      findScraper: (name) => scrapers.find((each) => each.name === name),
      pausedBy: () => undefined,
      isOpen: () => true,
      withLock: () => Promise.reject(new Error('no locks here')),
      log: quietLog,
    },
    slots: { now: () => 2, used: () => undefined },
    limits: { timeoutMs: 60_000, abortGraceMs: 20 },
    isTaking: () => true,
    tasksRunning: () => 0,
    isReserved: () => false,
    onEnd: () => undefined,
    ...changes,
  });
}

t.test('the answer of a handler, or what it failed of', async (t) => {
  const calls = makeCalls();
  t.match(await calls.call(spec('shop', { n: 1 }), 1_000), {
    state: 'done',
    result: { items: [{ input: { n: 1 } }], data: { note: 1 }, pages: 0 },
    followUps: 0,
  });
  t.match(await calls.call(spec('bad'), 1_000), {
    state: 'failed',
    error: { code: 'INTERNAL', message: 'it fails' },
  });
  t.match(await calls.call(spec('hold'), 10), { state: 'failed', error: { code: 'TIMEOUT' } });
  t.match(await calls.call(spec('deaf'), 10), { state: 'failed', error: { code: 'TIMEOUT' } });
  t.equal(calls.running(), 0);
});

t.test('a worker at its limit refuses at once, and so does one that takes nothing', async (t) => {
  let ended = 0;
  const calls = makeCalls({ onEnd: () => (ended += 1), tasksRunning: () => 1 });
  const held = calls.call(spec('hold'), 60_000);
  t.equal(calls.running(), 1);
  t.same(await calls.call(spec('shop'), 1_000), { state: 'refused', reason: 'busy' });
  calls.abort();
  t.same(await held, { state: 'refused', reason: 'stopping' }, 'somebody else may do it');
  t.equal(ended, 1, 'the slot is free again');
  t.match(await calls.call(spec('shop'), 1_000), { state: 'done' });

  const refusal = async (changes: Partial<CallParts>, name = 'shop'): Promise<unknown> =>
    makeCalls(changes).call(spec(name), 1_000);
  t.same(await refusal({ isTaking: () => false }), { state: 'refused', reason: 'stopping' });
  t.same(await refusal({ slots: { now: () => 1, used: () => undefined }, tasksRunning: () => 1 }), {
    state: 'refused',
    reason: 'busy',
  });
  t.same(await refusal({ isReserved: () => true }), { state: 'refused', reason: 'busy' });
  t.same(await refusal({}, 'nobody'), { state: 'refused', reason: 'unknown-scraper' });
});
