/** A local cluster with a file of sinks runs them, drains them, and tells how far they are. */
import t from 'tap';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

t.test('`up` runs the sinks of the file', { timeout: 120_000 }, async (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, 'out');
  mkdirSync(out);
  const file = join(folder, 'sinks.yaml');
  writeFileSync(file, `lines:\n  type: ndjson\n  path: ${out}\n`);
  const trawl = await installTrawl(t, {
    TRAWL_SINKS_FILE: file,
    TRAWL_WORKER_SCRAPERS: join(projectRoot, 'config/scrapers'),
    WORKERS: '1',
  });
  await trawl.json('up');
  const status = await trawl.json<{ actors: { id: string; role: string; state: string }[] }>('status');
  t.match(
    status.actors.find(({ role }) => role === 'sink'),
    { id: 'sink-lines', state: 'running' },
  );
  await trawl.json('submit', 'echo', 'https://shop.example/a', 'https://shop.example/b');
  const { sinks } = await untilSo(
    () =>
      trawl.json<{ sinks: { lag: number; runner?: string; checkpoint: { items: number } }[] }>('sinks', 'ls'),
    (answer) => answer.sinks[0]?.checkpoint.items === 2 && answer.sinks[0].lag === 0,
    40_000,
  );
  t.equal(sinks[0]?.runner, 'sink-lines');
  t.equal(readFileSync(join(out, 'lines-000001.ndjson'), 'utf8').trim().split('\n').length, 2);
  const refused = await trawl.run('sinks', 'rm', 'lines');
  t.equal(refused.code, 1);
  t.match(refused.stderr, /sink-lines is locked by sink-lines/);
  t.match(await trawl.run('down'), { code: 0 });

  writeFileSync(file, 'lines:\n  type: nosuch\n');
  const wrong = await trawl.run('up');
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, /sinks\.yaml:2:3: type must be ndjson/);
});
