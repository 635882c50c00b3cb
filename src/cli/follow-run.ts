/** Follows a run until it has ended: a bar on a terminal, in a pipe a line for each change. */
import { setTimeout as delay } from 'node:timers/promises';
import { answers, type Counts, type RunSummary } from '../client/answers.ts';
import { isSettled } from '../client/run-end.ts';
import { asFailure } from '../domain/failure.ts';
import { columnsOf } from './columns.ts';
import type { Output } from './output.ts';
import {
  createMeter,
  createStatusLine,
  renderBar,
  renderCount,
  renderLeft,
  renderRate,
} from './progress-bar.ts';
import type { Ask } from './with-connection.ts';

/** The bar gives way to the words, as far as it still is one. */
const BAR_MAX = 24;
const BAR_MIN = 8;
/** Around the bar: its ends, the per cent, the gap after it, and the last column, which stays empty. */
const BAR_FRAME = '[]  99%'.length + 3;
const COLUMNS = 80;
const LOOK_MS = 500;
/** A coordinator may be replaced while we watch. */
const OUTAGE_MAX_MS = 30_000;

export interface FollowRun {
  readonly ask: Ask;
  readonly run: string;
  readonly output: Output;
  /** Nothing in a pipe: the caller prints the end. */
  readonly quiet?: boolean;
  /** Gives up when it aborts, and throws its reason. */
  readonly until?: AbortSignal;
  /** Called with each answer. */
  readonly onLook?: (summary: RunSummary) => void;
}

export async function followRun(options: FollowRun): Promise<RunSummary> {
  const { ask, run, output, quiet = false, until, onLook } = options;
  const line = createStatusLine(output.json ? { write: () => undefined } : process.stderr);
  const meter = createMeter();
  const printsLines = !quiet && (output.json || !process.stderr.isTTY || !process.stdout.isTTY);
  let last = '';
  let answeredAt = performance.now();
  try {
    for (;;) {
      until?.throwIfAborted();
      const summary = await look();
      if (summary) {
        const settled = settledOf(summary.counts);
        const perSecond = meter.read(settled, performance.now());
        line.show(renderRun(summary, perSecond, columnsOf(process.stderr)), { always: true });
        const said = output.json ? JSON.stringify(summarize(summary)) : renderChange(summary);
        if (printsLines && said !== last) process.stdout.write(`${said}\n`);
        last = said;
        onLook?.(summary);
        if (isSettled(summary)) return summary;
      }
      await delay(LOOK_MS, undefined, until ? { signal: until } : {}).catch(() => until?.throwIfAborted());
    }
  } finally {
    line.clear();
  }

  async function look(): Promise<RunSummary | undefined> {
    try {
      const summary = await ask('run.show', answers.runWithCounts, { run });
      answeredAt = performance.now();
      return summary;
    } catch (error) {
      const { code } = asFailure(error);
      const passing = code === 'UNAVAILABLE' || code === 'TIMEOUT';
      if (!passing || performance.now() - answeredAt > OUTAGE_MAX_MS) throw error;
      line.show('no coordinator answers, waiting', { always: true });
      return undefined;
    }
  }
}

function settledOf({ done, dead, cancelled }: Counts): number {
  return done + dead + cancelled;
}

export function renderRun(
  { state, counts }: RunSummary,
  perSecond: number,
  columns: number = COLUMNS,
): string {
  const settled = settledOf(counts);
  const parts = [
    state,
    `${renderCount(settled)}/${renderCount(counts.total)}`,
    `${renderCount(counts.dead)} dead`,
    `${renderCount(counts.running)} running`,
    renderRate(perSecond),
    renderLeft(counts.remaining, perSecond),
  ];
  const words = parts.filter((part) => part !== '').join('  ');
  const width = Math.min(BAR_MAX, Math.max(BAR_MIN, columns - BAR_FRAME - words.length));
  return `${renderBar(counts.total === 0 ? 0 : settled / counts.total, width)}  ${words}`;
}

function renderChange({ id, state, counts }: RunSummary): string {
  const { total, queued, running, deferred, done, dead, cancelled } = counts;
  return `${id} ${state} total=${total} queued=${queued} running=${running} deferred=${deferred} done=${done} dead=${dead} cancelled=${cancelled}`;
}

function summarize({ id, state, counts }: RunSummary): object {
  return { run: id, state, counts };
}
