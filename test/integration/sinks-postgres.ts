/** A sink into a real PostgreSQL: killed, and the server killed and started again, in the middle of it. */
import t from 'tap';
import { findPostgres, startPostgres } from '../kit/postgres.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { ITEMS_PER_TASK, killHard, startSinkWorld } from '../kit/sink-world.ts';

const found = findPostgres();
if (found === undefined) {
  t.plan(0, 'there is no PostgreSQL here, and no way to get one');
} else {
  const world = await startSinkWorld(t);
  const database = await startPostgres(t, found);
  const { sql } = database;
  const words = (table: string): string[] => ['--type', 'postgres', '--url', database.url, '--table', table];
  const countOf = async (table: string): Promise<number> => {
    const [row] = await sql<{ count: string }[]>`select count(*) from ${sql(table)}`;
    return Number(row?.count);
  };

  t.test('kill -9 of the sink and of the server midway: every item once', { timeout: 150_000 }, async (t) => {
    const rounds = 4;
    const perRound = 500;
    const all = ['db', ...words('items'), '--run', 'pg'];
    let child = world.start(...all);
    for (let round = 0; round < rounds; round += 1) {
      const writing = world.settleMany('pg', { from: round * perRound, to: (round + 1) * perRound });
      await untilSo(
        () => countOf('items').catch(() => 0),
        (count) => count > round * perRound,
        40_000,
      );
      if (round % 2 === 0) {
        await killHard(child);
        await writing;
        child = world.start(...all);
      } else {
        await database.kill('SIGKILL');
        await writing;
        await world.until('db', ({ error }) => error !== undefined);
        const listed = await world.trawl.run('sinks', 'ls');
        t.match(listed.stdout, /db +postgres +failing .*PostgreSQL: /, 'what is wrong is shown');
        await database.start();
      }
    }
    const total = rounds * perRound * ITEMS_PER_TASK;
    await world.until('db', ({ lag, error, checkpoint }) => lag === 0 && !error && checkpoint.items >= total);
    t.equal(await countOf('items'), total);
    const [kinds] = await sql<{ tasks: string; texts: string }[]>`
      select count(distinct task_id) as tasks, count(*) filter (where item->>'key' like 'pg-%' and at is not null and url is not null and kind is null) as texts from items`;
    t.same(kinds, { tasks: String(rounds * perRound), texts: String(total) });
    await killHard(child);
  });

  t.test(
    'what the database refuses is put aside, and the rest is not stopped',
    { timeout: 60_000 },
    async (t) => {
      await world.settle('bad', 'one', [
        { a: 1 },
        { a: 'zero: \u0000' },
        null,
        { kind: 'price', data: { p: 3 } },
      ]);
      await world.settle('bad', 'two', [{ zero: '\u0000' }, 'text']);
      await world.settleMany('bad', { from: 0, to: 50 });
      await world.deliver('bad', ...words('other'), '--run', 'bad');
      t.equal(await countOf('other'), 104);
      const kept = await sql<
        { n: number; problem: string }[]
      >`select n, problem from other_rejected order by seq, n`;
      t.same(
        kept.map(({ n }) => n),
        [1, 0],
      );
      t.match(kept[0]?.problem, /the database refuses it/);
      const [price] = await sql<{ item: unknown }[]>`select item from other where kind = 'price'`;
      t.same(price?.item, { p: 3 });
      const sink = await world.look('bad');
      t.match(sink?.checkpoint, { items: 104, rejected: 2 });

      await world.trawl.run('sinks', 'replay', 'bad');
      await world.deliver('bad', ...words('other'), '--run', 'bad');
      t.equal(await countOf('other'), 104, 'the same rows again change nothing');
      t.equal(await countOf('other_rejected'), 2);
    },
  );

  t.test('passwords stay out of flags, and out of what is shown', async (t) => {
    const url = database.url.replace('trawl@', 'trawl:geheim@');
    const refused = await world.trawl.run('sink', 'x', '--type', 'postgres', '--url', url);
    t.equal(refused.code, 2);
    t.match(refused.stderr, /url holds a password, which must not be written here/);
    t.notMatch(refused.stderr, /geheim/);
    await world.deliver('secret', ...words('third'), '--password', 'env:SECRET', '--run', 'bad');
    t.notMatch((await world.trawl.run('sinks', 'ls', '--json')).stdout, /geheim/);
  });
}
