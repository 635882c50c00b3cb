/** The first steps of the README are run here, as they stand there. A command that this test does not know fails it. */
import t from 'tap';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

// A folder of scrapers like the project's own, in which the test may write.
const folder = temporaryFolder(t);
const scrapers = join(folder, 'scrapers');
cpSync(join(projectRoot, 'config/scrapers'), scrapers, { recursive: true });
mkdirSync(join(folder, 'node_modules'));
symlinkSync(projectRoot, join(folder, 'node_modules/trawl'));
const shell = createShell(await installTrawl(t, { TRAWL_WORKER_SCRAPERS: scrapers }), { npx: 'real' });

t.test('the first five minutes', { timeout: 170_000 }, async (t) => {
  const expected: Record<string, RegExp> = {
    'make cluster-up': /is up\.[\s\S]*Next:\n {2}npx trawl demo /,
    'npx trawl demo':
      /^Run demo has ended \(done_with_errors\): \d+ done, 4 dead.*\.\n\nKIND +URL +ID +NAME [\s\S]*\nproduct +http[\s\S]*… and \d+ more[\s\S]*npx trawl demo --kill/m,
    'npx trawl dead ls --run demo':
      /^4 dead tasks\.[\s\S]*3 +REJECTED [\s\S]*1 +INVALID [\s\S]*\/private\/1/m,
    'npx trawl demo --kill':
      /worker-\d \(pid \d+\) was killed with SIGKILL after \d+ tasks\. (\d+) tasks have \1 outcomes,\n0 of them twice;/,
    'npx trawl new shop': /Wrote .*shop\.mjs/,
    'node --test config/scrapers/shop.test.mjs': /# pass 2/,
    'make cluster-down cluster-up': /has stopped[\s\S]*is up\./,
    'npx trawl demo shop': /^Run demo-3 has ended \(done\): 5 done, 0 dead\.\n\nURL +TITLE\nhttp/m,
    'npx trawl results demo-3': /^(\{"task":.*"item":\{"url":.*\}\n){5}$/m,
    'make cluster-status': /worker-3 +worker +running/,
    'make cluster-down': /has stopped/,
  };
  const commands = commandsOf('The first five minutes');
  t.same(commands, Object.keys(expected));
  for (const command of commands) {
    // A smaller site, where nothing has to happen in the middle.
    const words = command === 'npx trawl demo' ? `${command} --products 60` : command;
    const { code, said } = await shell(words.replace('config/scrapers/', `${scrapers}/`));
    t.equal(code, 0, `${command}: ${said}`);
    t.match(said, expected[command], command);
  }
});

t.test('the program, through npx', { timeout: 60_000 }, async (t) => {
  t.match(
    await shell('make'),
    { code: 0, said: /make cluster-up +Start the local cluster/ },
    'make alone lists the targets',
  );
  t.match(await shell('npx trawl --help'), { code: 0, said: /trawl doctor/ });
  t.match(await shell('npx trawl config'), { code: 0, said: /nats\.url/ });
});
