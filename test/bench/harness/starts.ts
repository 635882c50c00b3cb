/** A scraper whose tasks take some seconds and leave a line each time that one is started, whoever starts it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Start {
  readonly key: string;
  readonly pid: number;
  readonly at: number; // epoch ms
}

/** Puts the scraper `hold` into the folder of scrapers; the answer reads what was started so far. */
export function writeHoldScraper(folder: string, taskMs: number): () => readonly Start[] {
  const file = join(folder, 'starts.txt');
  writeFileSync(
    join(folder, 'hold.mjs'),
    `import { appendFileSync } from 'node:fs';
export const scraper = {
  name: 'hold',
  async run({ task: { key } }) {
    const start = { key, pid: process.pid, at: Date.now() };
    appendFileSync(${JSON.stringify(file)}, JSON.stringify(start) + '\\n');
    await new Promise((resolve) => setTimeout(resolve, ${taskMs}));
  },
};
`,
  );
  return () => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    // The last line may be half written.
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Start);
  };
}
