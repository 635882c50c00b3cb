/** All that came of a run, counted by task. */
import type { Client } from '../../client/client.ts';
import { readItem, type Item } from '../../domain/item.ts';

export interface Gathered {
  readonly items: readonly Item[];
  /** Tasks with an outcome. */
  readonly outcomes: number;
  /** Tasks with more than one. */
  readonly twice: number;
}

export async function gatherOutcomes(client: Client, run: string): Promise<Gathered> {
  const items: Item[] = [];
  const times = new Map<string, number>();
  for await (const outcome of client.results(run, { settledOnly: true })) {
    times.set(outcome.id, (times.get(outcome.id) ?? 0) + 1);
    items.push(...outcome.items.map(readItem));
  }
  const twice = [...times.values()].filter((count) => count > 1).length;
  return { items, outcomes: times.size, twice };
}
