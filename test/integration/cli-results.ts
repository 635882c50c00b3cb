/** The command that prints results, as a child process, on a real server, with a coordinator that answers as agreed. */
import t from 'tap';
import { once } from 'node:events';
import { startNatsServer } from '../kit/nats-server.ts';
import { recordOf, startStubCoordinator } from '../kit/stub-coordinator.ts';
import { installTrawl } from '../kit/trawl.ts';

const server = await startNatsServer(t);
const stub = await startStubCoordinator(t, server);
const trawl = await installTrawl(t, { NATS_URL: server.url });

/** When a record of the stub was stored. */
const AT = '2026-01-30T19:06:40.000Z';

t.test('results as NDJSON and CSV', async (t) => {
  await stub.putRun({ id: 'res' });
  await stub.write('res', [
    recordOf('a', 'res', {
      items: [
        { name: 'say "hi"', price: 1 },
        { name: 'x,y', price: 2, extra: true },
      ],
    }),
    recordOf('b', 'res', { error: 'too slow' }),
    recordOf('c', 'res', { items: [] }),
    recordOf('d', 'res', 'queued'),
  ]);
  const lines = (await trawl.run('results', 'res')).stdout.trim().split('\n');
  t.same(
    lines.map((line) => JSON.parse(line) as unknown),
    [
      { name: 'say "hi"', price: 1 },
      { name: 'x,y', price: 2, extra: true },
    ].map((item) => ({
      ...{ task: 'a', run: 'res', state: 'done', url: 'https://shop.example/a', at: AT },
      item,
    })),
  );
  const csv = await trawl.run('results', 'res', '--format', 'csv');
  t.equal(
    csv.stdout,
    `task_id,task_url,task_at,name,price\r\na,https://shop.example/a,${AT},"say ""hi""",1\r\na,https://shop.example/a,${AT},"x,y",2\r\n`,
  );
  t.match(csv.stderr, /1 items have fields that the first one lacks \(extra\)/);
  t.equal((await trawl.run('results', '--run', 'res', '--format', 'csv')).stdout, csv.stdout, 'as an option');
  const both = await trawl.run('results', 'res', '--run', 'other');
  t.equal(both.code, 2);
  t.match(both.stderr, /one run, please: "res" or --run "other"/);
  t.match(await trawl.run('results'), { code: 2, stderr: /run is missing\ntrawl results RUN/ });
  const dead = await trawl.run('results', 'res', '--state', 'dead', '--format', 'csv');
  t.equal(
    dead.stdout,
    `task_id,state,task_url,task_at,error_code,error\r\nb,dead,https://shop.example/b,${AT},TIMEOUT,too slow\r\n`,
  );
  t.equal((await trawl.run('results', 'res', '--state', 'all')).stdout.trim().split('\n').length, 4);

  const followed = trawl.run('results', 'res', '--follow', '--state', 'all');
  await stub.write('res', [recordOf('d', 'res', { items: [5] })]);
  await stub.putRun({ id: 'res', state: 'done_with_errors' });
  t.match((await followed).stdout, /"task":"d".*"item":5/);

  const none = await trawl.run('results', 'nowhere');
  t.equal(none.code, 2);
  t.equal(none.stderr, 'trawl: there is no run nowhere\n`trawl runs ls` lists the runs.\n');
});

t.test('items of kinds, and sums over them', async (t) => {
  await stub.putRun({ id: 'kinds' });
  await stub.write('kinds', [
    recordOf('a', 'kinds', {
      items: [
        { kind: 'price', data: { p: 1 } },
        { kind: 'note', data: { t: 'x' } },
      ],
    }),
    recordOf('b', 'kinds', { items: [{ p: 2 }] }),
    recordOf('c', 'kinds', { error: 'too slow' }),
  ]);
  const prices = (await trawl.run('results', 'kinds', '--kind', 'price')).stdout.trim().split('\n');
  t.same(
    prices.map((line) => JSON.parse(line) as unknown),
    [
      {
        task: 'a',
        run: 'kinds',
        state: 'done',
        url: 'https://shop.example/a',
        at: AT,
        kind: 'price',
        item: { p: 1 },
      },
    ],
  );
  t.equal(
    (await trawl.run('results', 'kinds', '--kind', 'price', '--format', 'csv')).stdout,
    `task_id,task_url,task_at,kind,p\r\na,https://shop.example/a,${AT},price,1\r\n`,
  );
  const sums = await trawl.json<{ groups: unknown[]; total: unknown }>('aggregate', 'kinds', '--by', 'kind');
  t.match(sums.groups, [
    { group: '(none)', items: 1 },
    { group: 'note', items: 1, bytes: 9 },
    { group: 'price', items: 1, bytes: 7 },
  ]);
  t.match(sums.total, { tasks: 3, done: 2, dead: 1, items: 3 });
  t.match(
    (await trawl.run('aggregate', 'kinds', '--by', 'status')).stdout,
    /^STATUS +TASKS .*\ndone +2 [\s\S]*dead TIMEOUT +1 /,
  );
  t.match((await trawl.run('aggregate')).stdout, /^SCRAPER +TASKS [\s\S]*prices/, 'of all runs');
  t.equal((await trawl.run('aggregate', 'nowhere')).code, 2);
});

t.test('whoever has read enough of the results may go', async (t) => {
  await stub.putRun({ id: 'long' });
  const item = 'x'.repeat(1_000);
  for (let from = 0; from < 20_000; from += 1_000)
    await stub.write(
      'long',
      Array.from({ length: 1_000 }, (_, i) => recordOf(`t${from + i}`, 'long', { items: [item] })),
    );
  const child = trawl.start('results', 'long');
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const over = once(child, 'close') as Promise<[number | null, string | null]>;
  if (child.stdout) {
    await once(child.stdout, 'data');
    child.stdout.destroy();
  }
  t.same(await over, [0, null]);
  t.equal(said, '');
});
