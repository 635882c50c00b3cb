/** What is in the files of a sink, and whether that is every item once. */
import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { ITEMS_PER_TASK } from './sink-world.ts';

export interface Line {
  readonly run: string;
  readonly task: string;
  readonly n: number;
  readonly item: { readonly key: string; readonly n: number; readonly text: string };
}

export function filesOf(path: string, ending: string): string[] {
  return readdirSync(path)
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => {
      const bytes = readFileSync(join(path, file));
      return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    });
}

export function ndjsonOf(path: string, ending: string): Line[] {
  return filesOf(path, ending).flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line),
  );
}

/** Every item of tasks 0 to `tasks` of the run, once. */
export function checkItems(
  t: Test,
  found: readonly { key: string; n: number }[],
  run: string,
  tasks: number,
): void {
  t.equal(found.length, tasks * ITEMS_PER_TASK, 'as many as there are');
  const seen = new Set(found.map(({ key, n }) => `${key}/${n}`));
  t.equal(seen.size, found.length, 'none twice');
  let missing = 0;
  for (let task = 0; task < tasks; task += 1)
    for (let n = 0; n < ITEMS_PER_TASK; n += 1) if (!seen.has(`${run}-${task}/${n}`)) missing += 1;
  t.equal(missing, 0, 'none missing');
}

/** Resolves at so many changes in the folder. */
export function changesOf(path: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    const end = (): void => {
      clearTimeout(timer);
      watcher.close();
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error(`only ${seen} changes`));
    }, 30_000);
    const watcher = watch(path, () => {
      seen += 1;
      if (seen < count) return;
      end();
      resolve();
    });
  });
}
