/** The judge of the chaos test, on stories made by hand: one that is right, and one per way to break a promise. */
import t from 'tap';
import { NOTHING_COUNTED, type WriterCounts } from '../../src/policy/counted.ts';
import { findBroken, type Rule } from '../kit/chaos/check.ts';
import type { ChaosEvent } from '../kit/chaos/history.ts';
import type { ChaosStory, LedgerEntry, TaskKind } from '../kit/chaos/story.ts';

const url = (id: string): string => `http://site/${id}`;

const submit = (ids: readonly string[], at = 0, outcome: 'stored' | 'unknown' = 'stored'): ChaosEvent => ({
  type: 'submit',
  at,
  tasks: ids.map((id) => `r.${id}`),
  outcome,
});
const begin = (id: string, at: number, pid = 1): ChaosEvent => ({ type: 'begin', at, task: `r.${id}`, pid });
const end = (
  id: string,
  at: number,
  outcome: 'done' | 'failed' | 'deferred' = 'done',
  pid = 1,
): ChaosEvent => ({ type: 'end', at, task: `r.${id}`, pid, outcome });
const kill = (pid: number, at: number): ChaosEvent => ({
  type: 'fault',
  kind: 'killWorker',
  at,
  pid,
  until: at,
});
const death = (pid: number, at: number): ChaosEvent => ({ type: 'died', role: 'worker', at, pid });

const queued = (id: string): LedgerEntry => ({ type: 'task', task: `r.${id}`, state: 'queued' });
const done = (id: string, items: readonly unknown[] = [url(id)]): LedgerEntry => ({
  type: 'task',
  task: `r.${id}`,
  state: 'done',
  items,
});
const dead = (id: string, code = 'NETWORK'): LedgerEntry => ({
  type: 'task',
  task: `r.${id}`,
  state: 'dead',
  code,
});
const count = (counts: Partial<WriterCounts>, writer = 'w'): LedgerEntry => ({
  type: 'count',
  run: 'r',
  writer,
  counts: { ...NOTHING_COUNTED, ...counts },
});

/** Stored by itself, by `s`, in that group. */
const alone = (entry: LedgerEntry, group: number, seq: number): LedgerEntry =>
  entry.type === 'task' ? { ...entry, by: { writer: 's', group, seq } } : entry;

/** Tasks `a` and `b`, submitted, tried once and done. */
const HAPPY_EVENTS = [submit(['a', 'b']), begin('a', 1), end('a', 2), begin('b', 3), end('b', 4)];
const HAPPY_LEDGER = [
  queued('a'),
  queued('b'),
  count({ accepted: 2 }),
  done('a'),
  count({ done: 1, items: 1 }, 'x'),
  done('b'),
  count({ done: 2, items: 2 }, 'x'),
];

type Draft = Partial<Omit<ChaosStory, 'tasks'>> & { readonly kinds?: Readonly<Record<string, TaskKind>> };

function story({ kinds = {}, ...given }: Draft): ChaosStory {
  const ids = { a: 'ordinary' as const, b: 'ordinary' as const, ...kinds };
  return {
    tasks: new Map(Object.entries(ids).map(([id, kind]) => [`r.${id}`, { kind, url: url(id) }])),
    events: HAPPY_EVENTS,
    ledger: HAPPY_LEDGER,
    left: { intake: 0, tasks: new Set() },
    drainedMs: 1_000,
    runs: [{ id: 'r', standing: false, state: 'done' }],
    limits: { retries: 3, soloStarts: 2, drainMaxMs: 60_000 },
    ...given,
  };
}

/** Only `a`, whose records come after it was accepted. */
const onlyA = (...rest: LedgerEntry[]): LedgerEntry[] => [queued('a'), count({ accepted: 1 }), ...rest];
const doneA = [done('a'), count({ done: 1, items: 1 }, 'x')];
const deadA = (code?: string): LedgerEntry[] => [dead('a', code), count({ dead: 1 }, 'x')];

const RIGHT: Readonly<Record<string, Draft>> = {
  'two tasks, done': {},
  'a task that nobody acknowledged may be there or not': {
    events: [...HAPPY_EVENTS, submit(['c'], 5, 'unknown')],
    kinds: { c: 'ordinary' },
  },
  'a second submission is a duplicate': {
    events: [...HAPPY_EVENTS, submit(['a'], 5)],
    ledger: [...HAPPY_LEDGER, count({ accepted: 2, duplicates: 1 })],
  },
  'a kill explains a second attempt': {
    events: [submit(['a']), begin('a', 1), kill(1, 2), death(1, 3), begin('a', 4, 2), end('a', 5, 'done', 2)],
    ledger: onlyA(...doneA),
  },
  'a process that ended by itself explains it too': {
    events: [submit(['a']), begin('a', 1), death(1, 2), begin('a', 4, 2), end('a', 5, 'done', 2)],
    ledger: onlyA(...doneA),
  },
  'failures and deferrals explain themselves': {
    events: [
      submit(['a']),
      ...[1, 2, 3].flatMap((at) => [begin('a', at), end('a', at, 'failed')]),
      ...[4, 5].flatMap((at) => [begin('a', at), end('a', at, 'deferred')]),
      begin('a', 6),
      end('a', 7),
    ],
    ledger: onlyA(...doneA),
  },
  'poison and hopeless tasks are dead': {
    kinds: { a: 'poison', b: 'hopeless' },
    ledger: [
      queued('a'),
      queued('b'),
      count({ accepted: 2 }),
      dead('a', 'POISON'),
      dead('b'),
      count({ dead: 2 }, 'x'),
    ],
  },
  'who was hit while it ran, and again, may be taken for poison': {
    events: [submit(['a']), begin('a', 1), kill(1, 2), begin('a', 3, 2), kill(2, 4)],
    ledger: onlyA(...deadA('POISON')),
  },
  'so may one whose worker died before its outcome was stored': {
    events: [
      submit(['a']),
      begin('a', 1),
      end('a', 2),
      death(1, 3),
      begin('a', 4, 2),
      kill(2, 5),
      death(2, 6),
    ],
    ledger: onlyA(...deadA('POISON')),
  },
  'dead, put back, done': {
    events: [submit(['a'])],
    ledger: onlyA(
      ...deadA(),
      queued('a'),
      count({ redriven: 1 }, 'y'),
      done('a'),
      count({ redriven: 1, done: 1, items: 1 }, 'y'),
    ),
  },
  'stored alone, and counted later, by others and by itself': {
    ledger: [
      alone(queued('a'), 1, 1),
      queued('b'),
      count({ accepted: 1 }),
      count({ accepted: 1, extra: [1] }, 's'),
      done('a'),
      count({ done: 1, items: 1 }, 'x'),
      alone(done('b'), 2, 7),
      count({ accepted: 1, done: 1, items: 1, group: 2 }, 's'),
    ],
  },
  'the final counters of a run are those of the ledger': {
    runs: [{ id: 'r', standing: false, state: 'done', final: { total: 2, done: 2, dead: 0 } }],
  },
  'a standing run never ends': { runs: [{ id: 'r', standing: true, state: 'active' }] },
};

const WRONG: Readonly<Record<string, Draft & { readonly rules: readonly Rule[] }>> = {
  'acknowledged, and nowhere': {
    rules: ['I1', 'I9'],
    events: [...HAPPY_EVENTS, submit(['c'], 5)],
    kinds: { c: 'ordinary' },
  },
  'accepted, and in no queue': {
    rules: ['I1'],
    ledger: HAPPY_LEDGER.slice(0, -2),
  },
  'two outcomes': {
    rules: ['I2', 'I5'],
    ledger: [...HAPPY_LEDGER, done('a'), count({ done: 3, items: 3 }, 'x')],
  },
  'two outcomes, of which one was not counted': { rules: ['I2'], ledger: [...HAPPY_LEDGER, done('a')] },
  'done after it was dead': {
    rules: ['I2', 'I5'],
    events: [submit(['a']), begin('a', 1), end('a', 2)],
    ledger: onlyA(...deadA(), done('a'), count({ dead: 1, done: 1, items: 1 }, 'x')),
  },
  'accepted twice': {
    rules: ['I2', 'I5', 'I9'],
    ledger: [queued('a'), queued('a'), queued('b'), count({ accepted: 3 }), ...HAPPY_LEDGER.slice(3)],
  },
  'never accepted': {
    rules: ['I2'],
    kinds: { a: 'hopeless' },
    events: [submit(['a'])],
    ledger: [dead('a'), count({ accepted: 1, dead: 1 })],
  },
  'a task that nobody submitted': {
    rules: ['I3', 'I9'],
    ledger: [
      ...HAPPY_LEDGER,
      queued('z'),
      count({ accepted: 3 }),
      dead('z'),
      count({ done: 2, items: 2, dead: 1 }, 'x'),
    ],
  },
  'an attempt of a task that was never accepted': {
    rules: ['I3'],
    events: [...HAPPY_EVENTS, submit(['c'], 5, 'unknown'), begin('c', 6), end('c', 7)],
    kinds: { c: 'ordinary' },
  },
  'tried again for no reason': { rules: ['I4'], events: [...HAPPY_EVENTS, begin('a', 8), end('a', 9)] },
  'tried again because of a kill that came later': {
    rules: ['I4'],
    events: [...HAPPY_EVENTS, begin('a', 8), end('a', 9), kill(1, 10)],
  },
  'failed more often than it may': {
    rules: ['I4'],
    kinds: { a: 'hopeless' },
    events: [submit(['a']), ...[1, 2, 3, 4, 5].flatMap((at) => [begin('a', at), end('a', at, 'failed')])],
    ledger: onlyA(...deadA()),
  },
  'stored alone, and never counted': {
    rules: ['I5'],
    ledger: [...HAPPY_LEDGER.slice(0, 5), alone(done('b'), 1, 6)],
  },
  'stored alone, and counted by two': {
    rules: ['I5'],
    ledger: [
      ...HAPPY_LEDGER.slice(0, 5),
      alone(done('b'), 1, 6),
      count({ done: 1, items: 1, extra: [6] }, 's'),
      count({ done: 2, items: 2, group: 1 }, 's'),
    ],
  },
  'replaced before it was counted, and then never': {
    rules: ['I5', 'I9'],
    ledger: [alone(queued('a'), 1, 1), queued('b'), count({ accepted: 1 }), ...HAPPY_LEDGER.slice(3)],
  },
  'counted what is not there': {
    rules: ['I5'],
    ledger: [...HAPPY_LEDGER, count({ cancelled: 1 }, 'y')],
  },
  'counted too late, but right in the end': {
    rules: ['I5'],
    ledger: [
      queued('a'),
      queued('b'),
      count({ accepted: 1 }),
      done('a'),
      done('b'),
      count({ accepted: 2 }),
      count({ done: 2, items: 2 }, 'x'),
    ],
  },
  'other final counters than the ledger': {
    rules: ['I5'],
    runs: [{ id: 'r', standing: false, state: 'done', final: { total: 2, done: 1, dead: 0 } }],
  },
  'never done': { rules: ['I6'], drainedMs: undefined },
  'done too late': { rules: ['I6'], drainedMs: 60_001 },
  'a run that does not end': { rules: ['I6'], runs: [{ id: 'r', standing: false, state: 'active' }] },
  'an innocent task is dead': {
    rules: ['I7'],
    events: [submit(['a'])],
    ledger: onlyA(...deadA('POISON')),
  },
  'an innocent task is dead, hit once': {
    rules: ['I7'],
    events: [submit(['a']), begin('a', 1), kill(1, 2)],
    ledger: onlyA(...deadA('POISON')),
  },
  'a hopeless task is done': {
    rules: ['I7'],
    kinds: { a: 'hopeless' },
  },
  'the items twice': {
    rules: ['I8'],
    events: [submit(['a']), begin('a', 1), end('a', 2)],
    ledger: onlyA(done('a', [url('a'), url('a')]), count({ done: 1, items: 2 }, 'x')),
  },
  'the items of another task': {
    rules: ['I8'],
    events: [submit(['a']), begin('a', 1), end('a', 2)],
    ledger: onlyA(done('a', [url('b')]), count({ done: 1, items: 1 }, 'x')),
  },
  'a duplicate that was not counted': { rules: ['I9'], events: [...HAPPY_EVENTS, submit(['a'], 5)] },
  'a duplicate that was counted twice': {
    rules: ['I9'],
    events: [...HAPPY_EVENTS, submit(['a'], 5)],
    ledger: [...HAPPY_LEDGER, count({ accepted: 2, duplicates: 2 })],
  },
  'a duplicate that was counted by a coordinator that had slept': {
    rules: ['I9'],
    events: [...HAPPY_EVENTS, { type: 'fault', kind: 'pauseCoordinator', at: 5, pid: 9, until: 6 }],
    ledger: [...HAPPY_LEDGER, count({ accepted: 2, duplicates: 1 })],
  },
};

t.test('keeps every promise', async (t) => {
  for (const [name, draft] of Object.entries(RIGHT)) t.same(findBroken(story(draft)), [], name);
});

t.test('breaks a promise', async (t) => {
  for (const [name, { rules, ...draft }] of Object.entries(WRONG)) {
    const broken = new Set(findBroken(story(draft)).map(({ rule }) => rule));
    t.same([...broken], rules, name);
  }
});

t.test('what is left in a stream is not lost', async (t) => {
  const intake = story({
    events: [...HAPPY_EVENTS, submit(['c'], 5)],
    kinds: { c: 'ordinary' },
    left: { intake: 1, tasks: new Set() },
  });
  t.same(findBroken(intake), []);
  const queue = story({ ledger: HAPPY_LEDGER.slice(0, -2), left: { intake: 0, tasks: new Set(['r.b']) } });
  t.same(findBroken(queue), []);
  const other = story({ ledger: HAPPY_LEDGER.slice(0, -2), left: { intake: 0, tasks: new Set(['r.a']) } });
  t.match(findBroken(other), [{ rule: 'I1' }], 'unless it holds only others');
});
