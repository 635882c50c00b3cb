/** `make cluster-clean`: removes a stopped cluster's data, logs, state and contexts, and nothing that is not ours. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { removeContexts } from './context-file.ts';
import { tryLockHome } from './home-lock.ts';
import { foreign, isOurs, layoutOf, readClusterName } from './home.ts';
import { HOME_ENTRIES, type Layout } from './layout.ts';
import { inspectHome } from './leftovers.ts';

export interface CleanOptions {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `~/.config`. */
  readonly configHome: string;
}

export interface CleanResult {
  /** Names inside the home; empty when there was nothing. */
  readonly removed: readonly string[];
  readonly contexts: readonly string[];
  /** What stays in the home because it is not ours. */
  readonly kept: readonly string[];
}

export function cleanHome({ home, configHome }: CleanOptions): CleanResult {
  const layout = layoutOf(home);
  if (!existsSync(layout.home)) return { removed: [], contexts: [], kept: [] };
  if (!isOurs(layout)) throw foreign(layout, readdirSync(layout.home));
  const lock = tryLockHome(layout.home, 'clean');
  if (!lock.held) throw explainRunning(layout, `${lock.holder.role}, pid ${lock.holder.pid}`);
  try {
    return removeEverything(layout, configHome);
  } finally {
    lock.release();
    removeIfEmpty(layout.home);
  }
}

function removeEverything(layout: Layout, configHome: string): CleanResult {
  const { state, verdict } = inspectHome(layout, { answers: false });
  if (verdict.condition === 'silent' || verdict.alive.length > 0) {
    const alive = verdict.alive.map(({ name, pid }) => `${name}, pid ${pid}`);
    throw explainRunning(layout, alive.join('; ') || `supervisor, pid ${state?.supervisor.pid ?? 0}`);
  }
  const contexts = removeContexts({ configHome, cluster: readClusterName(layout), home: layout.home });
  const entries = readdirSync(layout.home);
  const removed = entries.filter((name) => HOME_ENTRIES.test(name) && !name.startsWith('lock.'));
  // The marker goes last: a clean that was cut short can be run again.
  for (const name of removed) if (join(layout.home, name) !== layout.marker) removeEntry(layout, name);
  rmSync(layout.socket, { force: true });
  removeEntry(layout, '.trawl-home');
  return { removed, contexts, kept: entries.filter((name) => !HOME_ENTRIES.test(name)) };
}

function removeEntry(layout: Layout, name: string): void {
  rmSync(join(layout.home, name), { recursive: true, force: true, maxRetries: 3 });
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody keeps other files in it.
  }
}

function explainRunning(layout: Layout, who: string): Failure {
  return new Failure('CONFLICT', `the cluster in ${layout.home} runs (${who})`, {
    hint: 'Stop it first: `make cluster-down`.',
  });
}
