/** The first steps of the README are run here, as they stand there. A command that this test does not know fails it. */
import t from 'tap';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

const shell = createShell(await installTrawl(t));

t.test('two minutes', { timeout: 120_000 }, async (t) => {
  const expected: Record<string, RegExp> = {
    'make cluster-up': /is up\.[\s\S]*Next:/,
    'npx trawl submit echo https://example.com/': /queued/,
    'npx trawl results default-echo': /^(\{.*\}\n)?$/m,
    'make cluster-status': /worker-3 +worker +running/,
    'make cluster-down': /has stopped/,
  };
  const commands = commandsOf('Two minutes');
  t.same(commands, Object.keys(expected));
  for (const command of commands) {
    const { code, said } = await shell(command);
    t.equal(code, 0, `${command}: ${said}`);
    t.match(said, expected[command], command);
  }
  t.match(
    await shell('make'),
    { code: 0, said: /make cluster-up +Start the local cluster/ },
    'make alone lists the targets',
  );
});

t.test('the program, through npx', { timeout: 60_000 }, async (t) => {
  t.match(await shell('npx trawl --help'), { code: 0, said: /trawl doctor/ });
  t.match(await shell('npx trawl config'), { code: 0, said: /nats\.url/ });
});
