/** The README's commands for single mode and for calls are run here, as they stand there. */
import t from 'tap';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf, createShell, runSections } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

t.test('on a laptop: single mode', { timeout: 120_000 }, async (t) => {
  const trawl = await installTrawl(t);
  const shell = createShell(trawl);
  const file = join(trawl.home, '../urls.txt');
  const out = join(trawl.home, '../out');
  writeFileSync(file, 'https://shop.example/1\nhttps://shop.example/2\n');
  const expected = [
    /^Run monday has ended \(done\): 2 done, 0 dead\.\n/,
    /"item":\{"url":"https:\/\/shop\.example\/1"/,
    /"event":"actor.stopped","role":"sink"/,
    /^RUN +SCRAPER +STATE +AGE +DATA\nmonday +echo +done /,
    /^Run monday has ended \(done\): 2 done, 0 dead\.\n/,
    /^PART +HOSTS +TASKS\n/,
    /^PART +HOSTS +TASKS\n/,
  ];
  const commands = commandsOf('On a laptop: single mode');
  t.equal(commands.length, expected.length);
  for (const [index, command] of commands.entries()) {
    const { code, said } = await shell(
      command.replace('urls.txt', file).replace('--path out', `--path ${out}`),
    );
    t.equal(code, 0, `${command}: ${said}`);
    t.match(said.replace(/^npm .*\n/gm, ''), expected[index], command);
  }
  t.ok(existsSync(join(out, 'pages-000001.ndjson')));
  t.ok(existsSync(join(trawl.home, 'single/monday')));
  t.notOk(existsSync(join(trawl.home, 'cluster.json')), 'no cluster was needed');
});

t.test('one scrape now', { timeout: 120_000 }, (t) => runSections(t, 'One scrape now'));
