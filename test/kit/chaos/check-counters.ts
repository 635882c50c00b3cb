/**
 * Counters are committed with what they count, in one atomic batch, and close it; or what they count was stored by
 * itself before, and bears the name of who was to count it. So wherever a counter is followed by something else, what
 * was counted so far, with what waits to be counted, must be what the ledger held at that moment; and at the end nothing
 * may wait.
 */
import { isCounted, NOTHING_COUNTED, type Counted, type WriterCounts } from '../../../src/policy/counted.ts';
import { NO_COUNTS, sumCounts, type CountRecord } from '../../../src/policy/counters.ts';
import type { ChaosStory, LedgerEntry } from './story.ts';

type Sums = { -readonly [Name in keyof CountRecord]: number };

interface Run {
  readonly tasks: Map<string, { state: string; items: number }>;
  readonly writers: Map<string, WriterCounts>;
  /** Stored by themselves, and not counted yet. */
  waiting: (Counted & { readonly writer: string; readonly task: string })[];
  held: Sums;
}

/** One problem per run is enough: after the first moment all others are wrong as well. */
export function* checkCounters({ ledger, left, runs: records }: ChaosStory): Generator<string> {
  const runs = new Map<string, Run>();
  const wrong = new Set<string>();
  let touched = new Set<string>();
  for (const [at, entry] of ledger.entries()) {
    const id = entry.type === 'count' ? entry.run : (entry.task.split('.')[0] ?? '');
    const run = runs.get(id) ?? { tasks: new Map(), writers: new Map(), waiting: [], held: NO_COUNTS };
    runs.set(id, run);
    touched.add(id);
    if (entry.type === 'count') run.writers.set(entry.writer, entry.counts);
    else hold(run, entry);
    if (entry.type !== 'count' || ledger[at + 1]?.type === 'count') continue;
    for (const name of touched) {
      const found = runs.get(name);
      const problem = found && compare(found);
      if (!problem || wrong.has(name)) continue;
      wrong.add(name);
      yield `run ${name}, message ${at + 1} of ${ledger.length} in the ledger: ${problem}`;
    }
    touched = new Set();
  }
  for (const [id, run] of runs) {
    compare(run);
    // What is still in a stream comes again, and is counted then.
    const lost = run.waiting.filter(({ task, delta }) =>
      delta.accepted === 1 ? left.intake === 0 : !left.tasks.has(task),
    );
    const [first] = lost;
    if (first) yield `run ${id}: ${lost.length} changes were never counted, ${first.task} of ${first.writer}`;
  }
  for (const { id, final } of records) {
    const held = runs.get(id)?.held ?? NO_COUNTS;
    const { total, done, dead } = final ?? {};
    if (final && (total !== held.accepted || done !== held.done || dead !== held.dead - held.redriven))
      yield `run ${id} ended with ${JSON.stringify(final)}, but the ledger holds ${JSON.stringify(held)}`;
  }
}

/** Deaths and returns add up; the rest is what the tasks are now. */
function hold(run: Run, { task, state, items = [], by }: Extract<LedgerEntry, { type: 'task' }>): void {
  const before = run.tasks.get(task);
  run.tasks.set(task, { state, items: items.length });
  const held = { ...run.held };
  if (!before) held.accepted += 1;
  if (before?.state === 'dead') held.redriven += 1;
  else if (before && before.state !== 'queued') held[before.state as 'done' | 'cancelled'] -= 1;
  if (state !== 'queued') held[state] += 1;
  held.items += items.length - (before?.items ?? 0);
  run.held = held;
  if (!by) return;
  const delta = state === 'queued' ? { accepted: 1 } : { [state]: 1, items: items.length };
  run.waiting.push({ ...by, task, delta });
}

function compare(run: Run): string | undefined {
  const { writers, held } = run;
  run.waiting = run.waiting.filter(
    (change) => !isCounted(writers.get(change.writer) ?? NOTHING_COUNTED, change),
  );
  const waiting = run.waiting.map(({ delta }) => ({ ...NO_COUNTS, ...delta }));
  const counted = sumCounts([...writers.values(), ...waiting]);
  const names = ['accepted', 'done', 'dead', 'cancelled', 'redriven', 'items'] as const;
  const off = names.filter((name) => counted[name] !== held[name]);
  if (off.length === 0) return undefined;
  return off.map((name) => `${name} ${counted[name]} counted, ${held[name]} held`).join(', ');
}
