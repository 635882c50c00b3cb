/** Why a task is where it is, in sentences that a person can act on. */
import { countItems, type LedgerRecord } from '../domain/task.ts';
import type { RunState } from './run-state.ts';

/** What was found of a task that has no outcome yet. */
export interface Whereabouts {
  /** The worker that has it in hand. */
  readonly hand?: { readonly worker: string; readonly since: number; readonly attempt: number };
  /** When it becomes ready. */
  readonly delayedUntil?: number;
  /** It was put aside because something held it back. */
  readonly parked?: boolean;
  /** It waits in the lane of its priority, with so many others in that lane. */
  readonly lane?: { readonly priority: number; readonly waiting: number };
  /** A flag that holds it back. */
  readonly pausedBy?: string;
  /** No worker that runs could take it. */
  readonly unowned?: boolean;
}

export interface ExplainFacts {
  readonly record: LedgerRecord;
  readonly whereabouts: Whereabouts;
  readonly runState: RunState | undefined;
  readonly now: number;
}

export interface Explanation {
  readonly where: 'queued' | 'running' | 'deferred' | 'done' | 'dead' | 'cancelled' | 'unknown';
  readonly explanation: readonly string[];
}

export function explainTask({ record, whereabouts, runState, now }: ExplainFacts): Explanation {
  switch (record.state) {
    case 'done':
      return {
        where: 'done',
        explanation: [
          `It is done: ${record.worker} stored ${countItems(record.result)} items at ${time(record.at)}.`,
        ],
      };
    case 'dead':
      return {
        where: 'dead',
        explanation: [
          `It died at ${time(record.at)} after ${record.faults.length} failed attempts: ${record.error.code}, ${record.error.message}.`,
          '`trawl dead retry` puts it back.',
        ],
      };
    case 'cancelled':
      return {
        where: 'cancelled',
        explanation: [`It was cancelled at ${time(record.at)}: ${record.reason}.`],
      };
    case 'queued':
      return explainOpen(whereabouts, { scraper: record.spec.scraper, runState, now });
  }
}

function explainOpen(
  { hand, delayedUntil, parked = false, lane, pausedBy, unowned = false }: Whereabouts,
  { scraper, runState, now }: { scraper: string; runState: RunState | undefined; now: number },
): Explanation {
  const held = [
    ...(pausedBy === undefined ? [] : [`It is held back: ${pausedBy}.`]),
    ...(runState === 'paused' ? ['Its run is paused.'] : []),
    ...(runState === 'cancelled' ? ['Its run was cancelled; its outcome is being written.'] : []),
  ];
  if (hand) {
    const seconds = Math.round((now - hand.since) / 1_000);
    return {
      where: 'running',
      explanation: [`${hand.worker} works on it since ${seconds} s, attempt ${hand.attempt}.`, ...held],
    };
  }
  const absent = unowned ? [`No running worker has its scraper, ${scraper}.`] : [];
  if (delayedUntil !== undefined) {
    const seconds = Math.max(0, Math.round((delayedUntil - now) / 1_000));
    return {
      where: 'deferred',
      explanation: [`It waits for its time: ${time(delayedUntil)}, in ${seconds} s.`, ...absent, ...held],
    };
  }
  if (parked) {
    const free = 'Nothing holds it back any more: it goes on within a second or so.';
    return { where: 'deferred', explanation: held.length > 0 ? held : [free] };
  }
  if (lane) {
    const others = lane.waiting === 1 ? 'alone' : `with ${lane.waiting - 1} others`;
    return {
      where: 'queued',
      explanation: [
        `It is ready and waits for a worker, ${others} of priority ${lane.priority}.`,
        ...absent,
        ...held,
      ],
    };
  }
  return {
    where: 'unknown',
    explanation: [
      'It is accepted, and neither in the queue nor in the hand of a worker for longer than a second: look again in a moment.',
      ...held,
    ],
  };
}

function time(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
