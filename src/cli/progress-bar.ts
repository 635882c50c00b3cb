/** How far something is, on one line that is written over again and again; a pipe never sees it. */
import { columnsOf } from './columns.ts';
import { renderAge } from './table.ts';

/** `[######··············]  30%`, as wide as asked. */
export function renderBar(fraction: number, width: number): string {
  const part = Number.isFinite(fraction) ? Math.min(Math.max(fraction, 0), 1) : 0;
  // Full only when it is done: nobody waits for a bar that looks finished.
  const filled = part === 1 ? width : Math.min(Math.floor(part * width), width - 1);
  const percent = part === 1 ? 100 : Math.min(Math.floor(part * 100), 99);
  return `[${'#'.repeat(Math.max(0, filled))}${'·'.repeat(Math.max(0, width - filled))}] ${String(percent).padStart(3)}%`;
}

/** `1,234,567` */
export function renderCount(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1,250/s`, and with a decimal where that matters. */
export function renderRate(perSecond: number): string {
  if (perSecond > 0 && perSecond < 10) return `${perSecond.toFixed(1)}/s`;
  return `${renderCount(perSecond)}/s`;
}

/** `12m 5s left`; nothing when there is no saying. */
export function renderLeft(remaining: number, perSecond: number): string {
  if (remaining <= 0 || perSecond <= 0) return '';
  return `${renderAge((remaining / perSecond) * 1_000)} left`;
}

export interface Meter {
  /** Tells the total so far; returns the recent rate per second. */
  read(total: number, nowMs: number): number;
}

/** A rate over the last moments: the average since the beginning says little about the end. */
export function createMeter(windowMs = 10_000): Meter {
  const readings: { readonly at: number; readonly total: number }[] = [];
  return {
    read(total, nowMs) {
      readings.push({ at: nowMs, total });
      // The newest reading that is older than the window stays: the rate is measured from it.
      while ((readings[1]?.at ?? Infinity) <= nowMs - windowMs) readings.shift();
      const first = readings[0];
      const elapsedMs = first ? nowMs - first.at : 0;
      return first && elapsedMs > 0 ? Math.max(0, ((total - first.total) / elapsedMs) * 1_000) : 0;
    },
  };
}

export interface StatusLine {
  /** Replaces the line, not more often than a person can read; `always` for what must be seen. */
  show(text: string, options?: { readonly always?: boolean }): void;
  /** Removes the line. */
  clear(): void;
}

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const REDRAW_MS = 100;
const COLUMNS = 80;

export function createStatusLine(
  terminal: Terminal,
  now: () => number = () => performance.now(),
): StatusLine {
  if (!terminal.isTTY) return { show: () => undefined, clear: () => undefined };
  let drawnAt = -Infinity;
  let drawn = false;
  return {
    show(text, { always = false } = {}) {
      if (!always && now() - drawnAt < REDRAW_MS) return;
      drawnAt = now();
      drawn = true;
      // A line that wraps cannot be written over.
      terminal.write(`\r\x1b[K${text.slice(0, (columnsOf(terminal) ?? COLUMNS) - 1)}`);
    },
    clear() {
      if (drawn) terminal.write('\r\x1b[K');
      drawn = false;
    },
  };
}
