/** Counters of a ledger whose writers die and sleep at any moment between storing a change and counting it. */
import t from 'tap';
import type { LedgerRecord, TaskSpec } from '../../src/domain/task.ts';
import {
  countFor,
  countGroup,
  deltaOf,
  isCounted,
  NOTHING_COUNTED,
  type Counted,
  type WriterCounts,
} from '../../src/policy/counted.ts';
import { sumCounts } from '../../src/policy/counters.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const spec: TaskSpec = { id: 'a', run: 'r', scraper: 's', priority: 0, createdAt: 1 };
const accepted = (seq: number, group: number): Counted => ({ seq, group, delta: { accepted: 1 } });

t.test('a writer counts its groups; what others counted for it is in them once', async (t) => {
  const first = countGroup(NOTHING_COUNTED, [accepted(1, 1), accepted(2, 1)], 1);
  t.match(first, { accepted: 2, group: 1, extra: [] });
  t.ok(isCounted(first, accepted(3, 1)), 'all of a group that is counted');
  t.notOk(isCounted(first, accepted(3, 2)), 'and nothing of the next');
  const helped = countFor(first, [accepted(3, 2), accepted(3, 2)]);
  t.match(helped, { accepted: 3, group: 1, extra: [3] });
  if (!helped) return;
  t.equal(countFor(helped, [accepted(3, 2), accepted(1, 1)]), undefined, 'nothing is left to count');
  t.match(countGroup(first, [accepted(3, 2), accepted(4, 2)], 2), { accepted: 4, group: 2, extra: [] });
});

t.test('what a record adds', async (t) => {
  const common = { spec, at: 1, faults: [] };
  const result = { items: [1, 2], pages: 1, bytes: 1 };
  const blob = { upload: 'u', chunks: 1, bytes: 1, sha256: '', items: 7 };
  const done = { ...common, state: 'done', worker: 'w', startedAt: 1 } as const;
  const cases: [LedgerRecord, object][] = [
    [{ ...common, state: 'queued' }, { accepted: 1 }],
    [
      { ...done, result },
      { done: 1, items: 2 },
    ],
    [
      { ...done, result: { ...result, items: [], blob } },
      { done: 1, items: 7 },
    ],
    [{ ...common, state: 'dead', error: { code: 'c', message: 'm' } }, { dead: 1 }],
    [{ ...common, state: 'cancelled', reason: 'r' }, { cancelled: 1 }],
  ];
  for (const [record, delta] of cases) t.strictSame(deltaOf(record), delta, record.state);
});

t.test('whatever dies, sleeps and meets: at the end all is counted once', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 3_000; round += 1) {
    const problem = play(random);
    if (problem !== undefined) return t.fail(`round ${round}: ${problem}`);
  }
  return t.pass('3,000 stories');
});

/** What a stream does with the records of tasks and of counters: the last of each, by compare-and-set. */
interface Model {
  readonly tasks: Map<string, { seq: number; state: 'queued' | 'done'; writer: string; group: number }>;
  readonly counters: Map<string, { seq: number; counts: WriterCounts }>;
  seq: number;
  changes: { accepted: number; done: number };
}

/** One life of a lane: its steps are `store`, `store`, …, `count`, and between any two of them it may end or sleep. */
interface Life {
  writer: string;
  known: { seq: number; counts: WriterCounts };
  group: number;
  open: Counted[];
}

function play(random: Random): string | undefined {
  const model: Model = { tasks: new Map(), counters: new Map(), seq: 0, changes: { accepted: 0, done: 0 } };
  let names = 0;
  const begin = (): Life => ({
    writer: `w${(names += 1)}`,
    known: { seq: 0, counts: NOTHING_COUNTED },
    group: 1,
    open: [],
  });
  const lives = Array.from({ length: random.int(1, 4) }, begin);

  for (let step = random.int(5, 80); step > 0; step -= 1) {
    const at = random.int(0, lives.length - 1);
    const life = lives[at] ?? begin();
    const id = `t${random.int(0, 12)}`;
    if (random.chance(0.1))
      lives[at] = begin(); // it dies where it stands
    else if (random.chance(0.5)) change(life, id);
    else if (!count(life)) {
      for (const { seq } of life.open) ensureCounted(idAt(seq));
      lives[at] = begin();
    }
  }

  // Everything that is not acknowledged comes again; what nobody acknowledged is what nobody counted.
  for (const id of model.tasks.keys()) ensureCounted(id);
  const sum = sumCounts([...model.counters.values()].map(({ counts }) => counts));
  const { accepted: a, done: d } = model.changes;
  return sum.accepted === a && sum.done === d
    ? undefined
    : `${sum.accepted} of ${a} accepted and ${sum.done} of ${d} done are counted`;

  function change(life: Life, id: string): void {
    const task = model.tasks.get(id);
    // Refused: the task is settled; whoever hears so sees to it that it is counted.
    if (task?.state === 'done') {
      ensureCounted(id);
      return;
    }
    // A task is settled only by somebody to whom it was told as accepted, or who has seen to that.
    if (task) ensureCounted(id);
    const state = task ? 'done' : 'queued';
    model.changes[task ? 'done' : 'accepted'] += 1;
    model.tasks.set(id, { seq: (model.seq += 1), state, writer: life.writer, group: life.group });
    life.open.push({ seq: model.seq, group: life.group, delta: task ? { done: 1 } : { accepted: 1 } });
  }

  function idAt(seq: number): string {
    return [...model.tasks].find(([, task]) => task.seq === seq)?.[0] ?? '';
  }

  /** By what it knows: false if that is no longer so. */
  function count(life: Life): boolean {
    const counts = countGroup(life.known.counts, life.open, life.group);
    if ((model.counters.get(life.writer)?.seq ?? 0) !== life.known.seq) return false;
    life.known = { seq: (model.seq += 1), counts };
    model.counters.set(life.writer, life.known);
    life.open = [];
    life.group += 1;
    return true;
  }

  function ensureCounted(id: string): void {
    const task = model.tasks.get(id);
    if (!task) return;
    const before = model.counters.get(task.writer)?.counts ?? NOTHING_COUNTED;
    const delta = task.state === 'done' ? { done: 1 } : { accepted: 1 };
    const counts = countFor(before, [{ seq: task.seq, group: task.group, delta }]);
    if (counts) model.counters.set(task.writer, { seq: (model.seq += 1), counts });
  }
}
