/** One parser on the real pages, as a process of its own. Driven by peers/host.mjs. */
import { createHash } from 'node:crypto';
import { loadCorpus } from './parse-corpus.ts';
import { loadRealContestants, type Found } from './parse-real-wanted.ts';

export const KINDS = ['links', 'headings', 'cells', 'listItems'] as const satisfies (keyof Found)[];

/** A sum for each kind of what was found on a page; undefined: it could not be read. */
export type Sums = readonly string[] | undefined;

export async function open({ name, pages }: { name: string; pages: number }): Promise<{
  judge: () => Sums[];
  run: () => number;
}> {
  const htmls = loadCorpus(pages);
  const mine = (await loadRealContestants()).find((each) => each.name === name);
  if (!mine) throw new Error(`there is no parser ${name}`);
  return {
    judge: () =>
      htmls.map((html) => {
        try {
          const found = mine.extract(html);
          return KINDS.map((kind) => sumOf(found[kind]));
        } catch {
          return undefined;
        }
      }),
    /** All pages once; the CPU time that it took, in µs. */
    run() {
      const start = process.cpuUsage();
      for (const html of htmls) mine.extract(html);
      const { user, system } = process.cpuUsage(start);
      return user + system;
    },
  };
}

/** Where on the page it was found does not matter. */
function sumOf(found: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([...found].sort()))
    .digest('base64');
}
