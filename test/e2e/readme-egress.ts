/** The README's commands for proxies, hosts and sessions are run here, as they stand there, and its site is fetched. */
import t from 'tap';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../../src/project-root.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

const trawl = await installTrawl(t, {
  WORKERS: '1',
  TRAWL_WORKER_SCRAPERS: join(projectRoot, 'config/scrapers'),
});
await trawl.json('up');
const shell = createShell(trawl);

t.test('proxies, hosts and sessions', { timeout: 120_000 }, async (t) => {
  const file = join(trawl.home, '../proxies.txt');
  writeFileSync(file, 'http://127.0.0.1:3129\n127.0.0.1:3130:user:password\n');
  const commands = commandsOf('Proxies, hosts and sessions');
  t.equal(commands.length, 14);
  for (const command of commands) {
    const { code, said } = await shell(command.replace('proxies.txt', file));
    t.equal(code, 0, `${command}: ${said}`);
    t.notMatch(said, /password/, 'no credentials');
  }
  const { proxies } = await trawl.json<{ proxies: { id: string }[] }>('proxies', 'ls');
  t.equal(proxies.length, 12, 'those of the file and the ports of Tor are left');
  for (const { id } of proxies) await trawl.json('proxies', 'rm', id);
});

t.test('the workers of the local cluster may fetch from the demo site', { timeout: 60_000 }, async (t) => {
  const said = await firstLines(trawl.start('demo-site', '--json'), (line) => line === '}');
  const { url } = JSON.parse(said) as { url: string };
  await trawl.json('submit', 'page', `${url}/product/7`);
  const results = trawl.start('results', 'default-page', '--follow');
  t.match(await firstLines(results, () => true), /"status":200/);
});

async function firstLines({ stdout }: ChildProcess, isLast: (line: string) => boolean): Promise<string> {
  if (!stdout) throw new Error('no pipe');
  let said = '';
  for await (const line of createInterface({ input: stdout })) {
    said += line;
    if (isLast(line)) break;
  }
  return said;
}
