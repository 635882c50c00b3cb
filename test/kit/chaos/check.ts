/**
 * Holds a story against the promises.
 *
 *   I1  nothing that was acknowledged is lost: it has an outcome, or waits in a stream
 *   I2  a task gets one outcome; it is accepted once
 *   I3  nothing is there that nobody submitted
 *   I4  a task is tried once, and again only when an attempt failed or something was disturbed
 *   I5  the counters are what the ledger holds, at every moment, and what is not counted at once is so at the end
 *   I6  all is done soon after the last fault, and every run has ended
 *   I7  dead are the tasks that cannot be done, and no other
 *   I8  a task that is done has its items, once
 *   I9  what is not accepted is a duplicate: together they are all that was stored
 */
import { checkCounters } from './check-counters.ts';
import { countWithin, listDisturbances, tellAttempts, type Attempts } from './attempts.ts';
import type { ChaosStory, LedgerEntry } from './story.ts';

export type Rule = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9';

export interface Broken {
  readonly rule: Rule;
  readonly what: string;
}

type TaskEntry = Extract<LedgerEntry, { type: 'task' }>;

export function findBroken(story: ChaosStory): Broken[] {
  const last = new Map<string, TaskEntry>();
  for (const entry of story.ledger) if (entry.type === 'task') last.set(entry.task, entry);
  const attempts = tellAttempts(story.events);
  return [
    ...named('I1', findLost(story, last)),
    ...named('I2', findSecondOutcomes(story.ledger)),
    ...named('I3', findPhantoms(story, attempts)),
    ...named('I4', findExcess(story, attempts)),
    ...named('I5', checkCounters(story)),
    ...named('I6', findLate(story)),
    ...named('I7', findWrongEnds(story, last, attempts)),
    ...named('I8', findWrongItems(story, last)),
    ...named('I9', findUncounted(story)),
  ];
}

function* named(rule: Rule, problems: Iterable<string>): Generator<Broken> {
  for (const what of problems) yield { rule, what };
}

function* findLost(
  { events, left, tasks }: ChaosStory,
  last: ReadonlyMap<string, TaskEntry>,
): Generator<string> {
  const stored = new Set(
    events.flatMap((event) => (event.type === 'submit' && event.outcome === 'stored' ? event.tasks : [])),
  );
  for (const task of stored) {
    const state = last.get(task)?.state;
    const about = `${task} (${tasks.get(task)?.kind ?? 'unknown'})`;
    if (state === undefined && left.intake === 0) yield `${about} was acknowledged and is nowhere`;
    if (state === 'queued' && left.intake === 0 && !left.tasks.has(task))
      yield `${about} waits in the ledger, and no queue holds it`;
  }
}

function* findSecondOutcomes(ledger: readonly LedgerEntry[]): Generator<string> {
  const states = new Map<string, string>();
  for (const entry of ledger) {
    if (entry.type !== 'task') continue;
    const before = states.get(entry.task);
    states.set(entry.task, entry.state);
    const first = before === undefined;
    const settled = before === 'queued' && entry.state !== 'queued';
    const putBack = before === 'dead' && entry.state === 'queued';
    if (!first && !settled && !putBack) yield `${entry.task} went from ${before} to ${entry.state}`;
    if (first && entry.state !== 'queued') yield `${entry.task} was ${entry.state} before it was accepted`;
  }
}

function* findPhantoms(
  { tasks, ledger }: ChaosStory,
  attempts: ReadonlyMap<string, Attempts>,
): Generator<string> {
  const known = new Set<string>();
  for (const entry of ledger) if (entry.type === 'task') known.add(entry.task);
  for (const task of known) if (!tasks.has(task)) yield `${task} is in the ledger and was never submitted`;
  for (const task of attempts.keys()) if (!known.has(task)) yield `${task} was tried and never accepted`;
}

function* findExcess(story: ChaosStory, attempts: ReadonlyMap<string, Attempts>): Generator<string> {
  const disturbances = listDisturbances(story.events);
  for (const [task, { begun, failed, deferred, since, until }] of attempts) {
    const disturbed = countWithin(disturbances, { since, until });
    const silent = story.tasks.get(task)?.kind === 'silent';
    // Of one that says nothing for the length of a lease each attempt may bring about another.
    const mostFailed = (story.limits.retries + 1 + disturbed) * (silent ? 2 : 1);
    const most = (1 + failed + deferred + disturbed) * (silent ? 2 : 1);
    if (failed > mostFailed) yield `${task} failed ${failed} times, with ${disturbed} disturbances`;
    if (begun > most)
      yield `${task} was tried ${begun} times: ${failed} failed, ${deferred} deferred, ${disturbed} disturbances`;
  }
}

function* findLate({ drainedMs, left, limits, runs }: ChaosStory): Generator<string> {
  const within = `${limits.drainMaxMs} ms of the last fault`;
  if (drainedMs === undefined || drainedMs > limits.drainMaxMs)
    yield `not done within ${within}: ${left.intake} messages in the intake, ${left.tasks.size} tasks in the queue`;
  for (const { id, standing, state } of runs)
    if (!standing && !state.startsWith('done')) yield `run ${id} is still ${state}`;
}

function* findWrongEnds(
  { tasks, limits }: ChaosStory,
  last: ReadonlyMap<string, TaskEntry>,
  attempts: ReadonlyMap<string, Attempts>,
): Generator<string> {
  for (const [task, { state, code }] of last) {
    const kind = tasks.get(task)?.kind;
    if (state === 'queued' || kind === undefined) continue;
    const expected = kind === 'poison' || kind === 'hopeless' ? 'dead' : 'done';
    if (state === expected) continue;
    // Whoever was hit again and again while it ran cannot be told from one that ends its worker.
    const hits = attempts.get(task)?.hits ?? 0;
    const excused = state === 'dead' && code === 'POISON' && hits >= limits.soloStarts;
    if (!excused) yield `${task} (${kind}) is ${state} (${code ?? 'no code'}, hit ${hits} times)`;
  }
}

function* findWrongItems({ tasks }: ChaosStory, last: ReadonlyMap<string, TaskEntry>): Generator<string> {
  for (const [task, { state, items }] of last) {
    if (state !== 'done') continue;
    const [only, ...more] = items ?? [];
    if (only !== tasks.get(task)?.url || more.length > 0)
      yield `${task} has the items ${JSON.stringify(items)}`;
  }
}

function* findUncounted({ events, ledger, left }: ChaosStory): Generator<string> {
  if (left.intake > 0) return;
  let stored = 0;
  let unknown = 0;
  for (const event of events) {
    if (event.type !== 'submit') continue;
    if (event.outcome === 'stored') stored += event.tasks.length;
    else unknown += event.tasks.length;
  }
  const counted = new Map<string, number>();
  for (const entry of ledger)
    if (entry.type === 'count')
      counted.set(`${entry.run} ${entry.writer}`, entry.counts.accepted + entry.counts.duplicates);
  const sum = [...counted.values()].reduce((all, one) => all + one, 0);
  if (sum < stored || sum > stored + unknown)
    yield `${stored} tasks were stored, and of ${unknown} nobody knows, but ${sum} are accepted or duplicates`;
}
