/** What was submitted → the records that the ledger accepts. */
import { defaultRunId, isRunId } from '../../domain/run-id.ts';
import type { LedgerRecord, TaskSpec } from '../../domain/task.ts';
import type { ParsedProblem } from '../../wire/submission.ts';
import type { ParsedRequest } from '../../wire/submission-task.ts';
import type { RunDraft } from './ports.ts';

export type Acceptable = Extract<LedgerRecord, { state: 'queued' | 'dead' }>;
type Queued = Extract<LedgerRecord, { state: 'queued' }>;

/** Where and when something was submitted. */
export interface Origin {
  readonly run: string;
  readonly seq: number;
  readonly at: number; // epoch ms
}

const ORIGINAL_MAX_BYTES = 64 * 1024;
/** Stands for the scraper of what was sent to a subject that no scraper can have. */
const NO_SCRAPER = 'invalid';

/** The run that takes a message in, whatever its subject says. */
export function homeOf({ scraper, run }: { readonly scraper: string; readonly run?: string }): RunDraft {
  const known = isRunId(scraper) ? scraper : NO_SCRAPER;
  return run !== undefined && isRunId(run)
    ? { id: run, scraper: known, standing: run === defaultRunId(known) }
    : { id: defaultRunId(known), scraper: known, standing: true };
}

export function queuedRecord(task: ParsedRequest, origin: Origin): Queued {
  return { state: 'queued', spec: specOf(task, origin), at: origin.at, faults: [] };
}

/** For a task that came when its run had ended: it is kept, and a person may put it back. */
export function lateRecord(task: ParsedRequest, origin: Origin): Acceptable {
  const message = `run ${origin.run} had ended when this was submitted`;
  return {
    state: 'dead',
    spec: specOf(task, origin),
    at: origin.at,
    faults: [],
    error: { code: 'REJECTED', message },
  };
}

/** For a task whose input its scraper would not take. */
export function refusedRecord(problem: string): (task: ParsedRequest, origin: Origin) => Acceptable {
  return (task, origin) => ({
    state: 'dead',
    spec: specOf(task, origin),
    at: origin.at,
    faults: [],
    error: { code: 'INVALID', message: problem },
  });
}

export function graveRecord(problem: ParsedProblem, { run, seq, at }: Origin): Acceptable {
  const { id, scraper, reason, original } = problem;
  return {
    state: 'dead',
    spec: { id, run, scraper, priority: 0, createdAt: at, intake: seq },
    at,
    faults: [],
    error: { code: 'INVALID', message: reason },
    original: original.subarray(0, ORIGINAL_MAX_BYTES),
  };
}

/** Field by field, because it is done for every task of messages of thousands, and spreading takes three times as long. */
function specOf(task: ParsedRequest, { run, seq, at }: Origin): TaskSpec {
  const { id, scraper, priority, url, key, input, notBefore, depth, parent } = task;
  const spec: Draft = { id, run, scraper, priority, createdAt: at, intake: seq };
  if (url !== undefined) spec.url = url;
  if (key !== undefined) spec.key = key;
  if (input !== undefined) spec.input = input;
  if (notBefore !== undefined) spec.notBefore = notBefore;
  if (depth !== undefined) spec.depth = depth;
  if (parent !== undefined) spec.parent = parent;
  return spec;
}

type Draft = { -readonly [Name in keyof TaskSpec]: TaskSpec[Name] };
