/** Sorts what a task emitted by the scraper's own schema: one bad item never stops the rest. */
import { messageOf } from '../domain/failure.ts';
import type { BadItem, TaskResult } from '../domain/task.ts';
import { checkValue, type StandardSchema } from './standard-schema.ts';

/** One emitted item. */
export interface EmittedItem {
  readonly kind?: string;
  readonly data: unknown;
}

type Sorted = Pick<TaskResult, 'items' | 'published' | 'total' | 'errors' | 'badItems'>;

/** Kept for people to look at; all are counted. */
export const BAD_KEPT_MAX = 20;
const BAD_ITEM_MAX_CHARACTERS = 4_096;

/** As they are stored. */
export function storedItem({ kind, data }: EmittedItem): unknown {
  return kind === undefined ? data : { kind, data };
}

export async function checkItems(schema: StandardSchema, emitted: readonly EmittedItem[]): Promise<Sorted> {
  const items: unknown[] = [];
  const badItems: BadItem[] = [];
  let errors = 0;
  for (const [index, item] of emitted.entries()) {
    const problem = await check(item);
    if (problem === undefined) continue;
    errors += 1;
    if (badItems.length < BAD_KEPT_MAX) badItems.push({ index, problem, item: shortened(storedItem(item)) });
  }
  return {
    items,
    published: items.length,
    total: emitted.length,
    errors,
    ...(badItems.length > 0 && { badItems }),
  };

  async function check(item: EmittedItem): Promise<string | undefined> {
    try {
      const checked = await checkValue(schema, item.data, 'item');
      if (!checked.ok) return checked.problem;
      items.push(storedItem({ ...item, data: checked.value }));
      return undefined;
    } catch (error) {
      return `its schema failed: ${messageOf(error)}`;
    }
  }
}

/** What nobody checked may be anything: it is kept as JSON has it, and only the beginning of what is long. */
function shortened(item: unknown): unknown {
  try {
    const text = JSON.stringify({ item });
    return text.length <= BAD_ITEM_MAX_CHARACTERS
      ? (JSON.parse(text) as { readonly item?: unknown }).item
      : `${text.slice(0, BAD_ITEM_MAX_CHARACTERS)}…`;
  } catch {
    return String(item);
  }
}
