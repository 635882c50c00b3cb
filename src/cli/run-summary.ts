/** How a run ended, for a person and for a script. */
import type { RunSummary } from '../client/answers.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { renderCount } from './progress-bar.ts';

export function describeEnd({ id, state, counts }: RunSummary): string {
  const { done, dead, cancelled, duplicates } = counts;
  const parts = [`${renderCount(done)} done`, `${renderCount(dead)} dead`];
  if (cancelled > 0) parts.push(`${renderCount(cancelled)} cancelled`);
  if (duplicates > 0) parts.push(`${renderCount(duplicates)} duplicates`);
  const next = dead > 0 ? `\nnpx trawl dead ls --run ${id} shows why.` : '';
  return `Run ${id} has ended (${state}): ${parts.join(', ')}.${next}`;
}

export function exitOf({ counts }: RunSummary): ExitCode {
  return counts.dead > 0 ? EXIT.deadTasks : EXIT.ok;
}
