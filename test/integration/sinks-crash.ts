/** Sinks of files that are killed in the middle of their work: every item is there, once. */
import t from 'tap';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../kit/nats-server.ts';
import { parseCsv } from '../kit/parse-csv.ts';
import { changesOf, checkItems, filesOf, ndjsonOf } from '../kit/sink-files.ts';
import { killHard, startSinkWorld } from '../kit/sink-world.ts';

const world = await startSinkWorld(t);
const folder = temporaryFolder(t);

const KINDS: readonly { name: string; words: readonly string[]; ending: string }[] = [
  { name: 'ndjson', words: ['--type', 'ndjson'], ending: '.ndjson' },
  { name: 'ndjson-gzip', words: ['--type', 'ndjson', '--gzip'], ending: '.ndjson.gz' },
  { name: 'csv', words: ['--type', 'csv'], ending: '.csv' },
  { name: 'csv-gzip', words: ['--type', 'csv', '--gzip'], ending: '.csv.gz' },
];

for (const { name, words, ending } of KINDS) {
  t.test(`${name}: kill -9 midway, again and again: every item once`, { timeout: 120_000 }, async (t) => {
    const rounds = 5;
    const perRound = 400;
    const tasks = rounds * perRound;
    const run = `kill-${name}`;
    const out = join(folder, name);
    mkdirSync(out);
    const all = ['--path', out, '--run', run, '--rotate-size', '150KB', ...words];
    for (let round = 0; round < rounds; round += 1) {
      const child = world.start(name, ...all);
      const writing = world.settleMany(run, { from: round * perRound, to: (round + 1) * perRound });
      // In the middle of its work: between the bytes, the draft of the position and its new name.
      await changesOf(out, 1 + (round % 4));
      await killHard(child);
      await writing;
    }
    await world.deliver(name, ...all);
    const items = ending.startsWith('.csv')
      ? filesOf(out, ending).flatMap((text) =>
          parseCsv(text).map((row) => ({ key: row['key'] ?? '', n: Number(row['n']) })),
        )
      : ndjsonOf(out, ending).map(({ item }) => item);
    checkItems(t, items, run, tasks);
    t.notOk(existsSync(join(out, `${name}.rejected.ndjson`)), 'nothing was put aside');
  });
}
