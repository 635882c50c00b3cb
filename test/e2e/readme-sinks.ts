/** The README's commands for results and sinks are run here, as they stand there. */
import t from 'tap';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

t.test('results and sinks', { timeout: 170_000 }, async (t) => {
  const up = await installTrawl(t, {
    TRAWL_RUNS_IDLE_END: '3s',
    TRAWL_WORKER_SCRAPERS: join(projectRoot, 'config/scrapers'),
    WORKERS: '1',
  });
  await up.json('up');
  const folder = join(up.home, '..');
  const urls = join(folder, 'urls.txt');
  const out = join(folder, 'out');
  const sinks = join(folder, 'sinks.yaml');
  writeFileSync(urls, 'https://shop.example/1\nhttps://shop.example/2\n');
  writeFileSync(
    sinks,
    readFileSync(join(projectRoot, 'config/sinks.yaml'), 'utf8').replace('path: out', `path: ${out}`),
  );
  const expected: readonly (readonly [RegExp, RegExp])[] = [
    [/^npx trawl submit/, /queued/],
    [/results/, /task_id,task_url,.*\r\n[\s\S]*https:\/\/shop\.example\/2/],
    [/aggregate/, /^HOST +TASKS[\s\S]*shop\.example +2 /],
    [/stdout/, /"item":/],
    [/sinks ls/, /archive +ndjson +stopped +\d+ +0 +2 +0 /],
    [/sinks show/, /position +\d+/],
    [/replay/, /archive {2}starts over/],
    [/sinks rm/, /table {2}forgotten/],
    [/trawl sink /, /^/],
  ];
  const shell = createShell(up);
  for (const command of commandsOf('Results and sinks')) {
    const words = command
      .replaceAll('urls.txt', urls)
      .replaceAll('--path out', `--path ${out}`)
      .replaceAll('config/sinks.yaml', sinks);
    const { code, said } = await shell(words);
    t.equal(code, 0, `${command}: ${said}`);
    t.match(said, expected.find(([which]) => which.test(command))?.[1] ?? /^$/, command);
  }
  t.same(readdirSync(out).sort(), [
    'archive-000001.ndjson.gz',
    'archive.position.json',
    'table-000001.csv',
    'table.position.json',
  ]);
});
