/** The README's commands for writing a scraper are run here, as they stand there, in a folder of their own. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/project-root.ts';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

t.test('writing a scraper', { timeout: 120_000 }, async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot, join(folder, 'node_modules/trawl'));
  const site = await openDemoSite(t);
  const proxy = await openFakeProxy(t, { kind: 'http' });
  const scrapers = join(folder, 'scrapers');
  const shell = createShell(await installTrawl(t, { TRAWL_WORKER_SCRAPERS: scrapers }));
  const expected: Record<string, RegExp> = {
    'npx trawl new prices': /Wrote .*prices\.mjs/,
    'npx trawl try prices --url http://127.0.0.1:8088/': /own address[\s\S]*Items: 1/,
    'npx trawl try prices --url http://127.0.0.1:8088/ --proxy http://127.0.0.1:3128':
      /Egress: http:[\s\S]*Items: 1/,
    'node --test config/scrapers/prices.test.mjs': /# pass 2/,
  };
  const commands = commandsOf('Writing a scraper');
  t.same(commands, Object.keys(expected));
  for (const command of commands) {
    const words = command
      .replace('http://127.0.0.1:8088', site.url)
      .replace('http://127.0.0.1:3128', proxy.url)
      .replace('config/scrapers/', `${scrapers}/`);
    const { code, said } = await shell(words);
    t.equal(code, 0, `${command}: ${said}`);
    t.match(said, expected[command], command);
  }
});
