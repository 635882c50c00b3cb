/** Puts dead tasks back, or drops them: one request, however long it takes, while a person sees it move. */
import { setTimeout as delay } from 'node:timers/promises';
import { answers } from '../client/answers.ts';
import { createStatusLine, renderBar, renderCount, type StatusLine } from './progress-bar.ts';
import type { Ask } from './with-connection.ts';

export interface DeadFilter {
  readonly run?: string;
  readonly scraper?: string;
  readonly id?: string;
  readonly code?: string;
  /** Died within this time. */
  readonly sinceMs?: number;
}

export interface DeadChange {
  readonly ask: Ask;
  readonly action: 'retry' | 'drop';
  readonly filter: DeadFilter;
  readonly limit: number | undefined;
  readonly perSecond: number | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
}

export interface DeadChanged {
  readonly matched: number;
  readonly changed: number;
}

const TIMEOUT_MS = 60_000;
/** The slowest that a coordinator is expected to be when nobody asks it to be slow. */
const PER_SECOND_MIN = 100;
const LOOK_MS = 1_000;

export async function changeDead(change: DeadChange): Promise<DeadChanged> {
  const { ask, action, filter, limit, perSecond, dryRun, json } = change;
  const call = (body: object, timeoutMs: number): Promise<DeadChanged> =>
    ask(`dead.${action}`, answers.changed, { ...filter, ...body }, { timeoutMs });

  const counted = await call({ dryRun: true }, TIMEOUT_MS);
  const matched = Math.min(counted.matched, limit ?? Infinity);
  if (dryRun || matched === 0) return { matched, changed: 0 };

  // Not in slices: a task that dies again at once would be in the next one, in place of those that were not tried.
  const line = createStatusLine(json ? { write: () => undefined } : process.stderr);
  const over = new AbortController();
  const watching = watch(change, { matched, before: counted.matched, line, signal: over.signal });
  try {
    const takesMs = (matched / Math.min(perSecond ?? PER_SECOND_MIN, PER_SECOND_MIN)) * 1_000;
    // The limit goes along although it is counted: more may have died since.
    const body = { limit: matched, ...(perSecond !== undefined && { perSecond }) };
    return await call(body, TIMEOUT_MS + takesMs);
  } finally {
    over.abort();
    await watching;
    line.clear();
  }
}

/** How many fewer are dead than before: close enough for a bar. */
async function watch(
  { ask, filter }: DeadChange,
  view: { matched: number; before: number; line: StatusLine; signal: AbortSignal },
): Promise<void> {
  const { matched, before, line, signal } = view;
  for (;;) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || !process.stderr.isTTY) return;
    // A look that fails is no news.
    const found = await ask('dead.list', answers.dead, { ...filter, limit: 0 }).catch(() => undefined);
    if (!found) continue;
    const done = Math.min(Math.max(before - found.count, 0), matched);
    line.show(`${renderBar(done / matched, 24)}  ${renderCount(done)}/${renderCount(matched)}`);
  }
}
