/** Sinks of files as processes of their own: added after the run, started over, two of one name. */
import t from 'tap';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../kit/nats-server.ts';
import { checkItems, filesOf, ndjsonOf } from '../kit/sink-files.ts';
import { killHard, startSinkWorld } from '../kit/sink-world.ts';

const world = await startSinkWorld(t);
const folder = temporaryFolder(t);

t.test('added after the run, it replays from the start; then it goes on; then it starts over', async (t) => {
  const out = join(folder, 'after');
  await world.settleMany('early', { from: 0, to: 300 });
  await world.deliver('late', '--type', 'ndjson', '--path', out, '--run', 'early', '--rotate-size', '20KB');
  checkItems(
    t,
    ndjsonOf(out, '.ndjson').map(({ item }) => item),
    'early',
    300,
  );
  t.ok(filesOf(out, '.ndjson').length > 2, 'rotated by size');
  const [first] = ndjsonOf(out, '.ndjson');
  t.match(first, {
    run: 'early',
    n: 0,
    scraper: 'prices',
    url: 'https://shop.example/early-0',
    at: /^20.*Z$/,
  });

  await world.settleMany('early', { from: 300, to: 320 });
  await world.settleMany('other', { from: 0, to: 5 });
  await world.deliver('late', '--type', 'ndjson', '--path', out, '--run', 'early', '--rotate-size', '20KB');
  checkItems(
    t,
    ndjsonOf(out, '.ndjson').map(({ item }) => item),
    'early',
    320,
  );

  const shown = await world.trawl.json<{ checkpoint: { items: number }; lag: number }>(
    'sinks',
    'show',
    'late',
  );
  t.equal(shown.checkpoint.items, 640);
  t.equal(shown.lag, 0);

  t.match(await world.trawl.run('sinks', 'replay', 'late'), { code: 0, stdout: /starts over/ });
  await world.deliver('late', '--type', 'ndjson', '--path', out, '--run', 'early');
  checkItems(
    t,
    ndjsonOf(out, '.ndjson').map(({ item }) => item),
    'early',
    320,
  );
  const before = readdirSync(out).find((file) => file.startsWith('late.before-'));
  t.equal(ndjsonOf(join(out, before ?? ''), '.ndjson').length, 640, 'what was there before is kept apart');

  const changed = await world.trawl.run('sink', 'late', '--type', 'ndjson', '--path', out, '--run', 'other');
  t.equal(changed.code, 2);
  t.match(changed.stderr, /there is a sink late already, with another target or other filters/);
  t.match(await world.trawl.run('sinks', 'rm', 'late'), { code: 0, stdout: /forgotten/ });
  t.match((await world.trawl.run('sinks', 'show', 'late')).stderr, /there is no sink late/);
});

t.test('two processes of one sink: one delivers, the other takes over', { timeout: 60_000 }, async (t) => {
  const out = join(folder, 'two');
  const all = ['pair', '--type', 'ndjson', '--path', out, '--run', 'pair'];
  const first = world.start(...all, '--id', 'pair-1');
  await world.until('pair', ({ runner }) => runner === 'pair-1');
  const second = world.start(...all, '--id', 'pair-2');
  await world.settleMany('pair', { from: 0, to: 200 });
  await world.until('pair', ({ lag }) => lag === 0);
  await killHard(first);
  await world.settleMany('pair', { from: 200, to: 400 });
  await world.until(
    'pair',
    ({ lag, runner, checkpoint }) => runner === 'pair-2' && lag === 0 && checkpoint.items === 800,
  );
  checkItems(
    t,
    ndjsonOf(out, '.ndjson').map(({ item }) => item),
    'pair',
    400,
  );
  const gone = once(second, 'exit');
  second.kill('SIGTERM');
  t.same(await gone, [0, null], 'it drains');
});
