/** What the image copies is all that the program needs: no packages, no sources. */
import t from 'tap';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/project-root.ts';
import { startDemoSite } from '../../src/demo-site/site.ts';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';

const run = promisify(execFile);

/** The sources of the COPY lines of the last stage. */
function copiedNames(): string[] {
  const file = readFileSync(join(projectRoot, 'config/docker/Dockerfile'), 'utf8');
  const last = file.slice(file.lastIndexOf('\nFROM '));
  return [...last.matchAll(/^COPY (?:--from=build \/app\/)?(\S+)/gm)].map(([, name = '']) => name);
}

t.test('the program runs from what is in the image', async (t) => {
  const names = copiedNames();
  t.same(names, ['package.json', 'dist/program', 'nats', 'config']);
  const app = temporaryFolder(t);
  for (const name of names)
    cpSync(join(projectRoot, name), join(app, name), {
      recursive: true,
      filter: (path) => !path.includes('/node_modules'),
    });
  const server = await startNatsServer(t);
  const site = await startDemoSite();
  t.teardown(() => site.close());
  const trawl = async (...words: string[]): Promise<unknown> => {
    const env = { PATH: process.env['PATH'], NATS_URL: server.url };
    const { stdout } = await run(process.execPath, [join(app, 'dist/program/main.js'), ...words, '--json'], {
      env,
      cwd: app,
    });
    return JSON.parse(stdout);
  };

  t.match(await trawl('topology', 'apply'), [{ action: 'created' }]);
  const tried = await trawl(
    ...['try', 'catalogue', '--url', `${site.url}/product/1`],
    ...['--fetch-allow-loopback', new URL(site.url).host],
  );
  t.match(tried, { error: undefined, items: [{ kind: 'product' }] });
});
