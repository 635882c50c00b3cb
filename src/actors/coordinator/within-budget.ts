/** Those tasks of a message that its page budget has room for. What the run knows already takes none: it is no new page. */
import type { PageBudget } from '../../domain/task.ts';
import { hostOf } from '../../domain/url.ts';
import type { ParsedRequest } from '../../wire/submission-task.ts';
import type { Ledger } from './ports.ts';

export async function withinBudget(
  ledger: Pick<Ledger, 'readMany' | 'claimPages'>,
  tasks: readonly ParsedRequest[],
  { run, budget }: { readonly run: string; readonly budget: PageBudget },
): Promise<readonly ParsedRequest[]> {
  const known = await ledger.readMany(
    run,
    tasks.map(({ id }) => id),
  );
  const pages = tasks
    .filter(({ id }) => !known.has(id))
    .map(({ id, url }) => ({ id, host: url === undefined ? '' : hostOf(url) }));
  const held = await ledger.claimPages({ run, budget, pages });
  return tasks.filter(({ id }) => known.has(id) || held.has(id));
}
