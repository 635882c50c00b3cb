/** No total of the cluster goes down, whoever dies or is removed. */
import t from 'tap';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { program } from '../../src/program.ts';
import { readMetrics } from '../kit/metrics-page.ts';
import { guard, type Teardown } from '../kit/nats-server.ts';
import { untilSo, type SmallCluster } from '../kit/small-cluster.ts';
import { exactly, fallenCounters, is, startWatched } from '../kit/watched-cluster.ts';

function startWorkerProcess(
  t: Teardown,
  { server, scrapers }: SmallCluster,
  id: string,
): { kill(): Promise<void> } {
  const flags = {
    'nats-url': server.url,
    scrapers,
    'heartbeat-interval': '200ms',
    'heartbeat-dead-after': '1s',
  };
  const child = spawn(
    process.execPath,
    [
      program.main,
      'worker',
      '--id',
      id,
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    { stdio: 'ignore' },
  );
  guard(child);
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  t.teardown(kill);
  return { kill };
}

t.test('totals stay when workers are killed and runs are removed', async (t) => {
  const cluster = await startWatched(t);
  const { until, start, call, submitAll, bucket } = cluster;
  await start('coordinator', 'c1');
  const victim = startWorkerProcess(t, cluster, 'w1');
  await submitAll('one', [{ key: 'a' }, { key: 'b' }, { key: 'c', input: { fail: true } }]);
  await until(is('trawl_task_duration_seconds_count', exactly(3)));
  await victim.kill();

  // Somebody else comes under the same id, and then the heartbeat of neither is left.
  const second = startWorkerProcess(t, cluster, 'w1');
  await until(is('trawl_actor_starts_total{actor_role="worker"}', exactly(2)));
  await call('dead.retry', { run: 'one' });
  await until(is('trawl_task_duration_seconds_count', exactly(4)));
  await second.kill();
  await until((page) => page.get('trawl_actors{actor_role="worker",status="running"}') === 0);
  const lives = async (): Promise<string[]> => (await bucket.list('tally.worker.*')).map(({ key }) => key);
  await untilSo(lives, (left) => left.length === 0);
  t.ok(await bucket.get('tally.past'), 'they are of the past');

  const before = await until(is('trawl_task_duration_seconds_count', exactly(4)));
  await untilSo(
    () => call<{ state: string }>('run.show', { run: 'one' }),
    ({ state }) => state === 'done_with_errors',
  );
  await call('run.remove', { run: 'one' });
  t.equal(await bucket.get('run.one'), undefined);
  // Readings go on until one is sure to have been made afterwards.
  await submitAll('two', [{ key: 'a' }]);
  const after = await until(is('trawl_tasks_accepted_total', exactly(4)));
  for (const name of ['done', 'dead', 'redriven', 'duplicate', 'cancelled'])
    t.equal(after.get(`trawl_tasks_${name}_total`), before.get(`trawl_tasks_${name}_total`), name);
  t.match(
    ['done', 'dead', 'redriven'].map((name) => after.get(`trawl_tasks_${name}_total`)),
    [2, 2, 1],
  );
  t.equal(after.get('trawl_actor_starts_total{actor_role="worker"}'), 2);
  t.same(fallenCounters(cluster), []);

  // A second exporter has never heard of any of it, and tells the same.
  const other = await start('exporter', 'e2');
  const told = await untilSo(() => readMetrics(other.url), is('trawl_tasks_accepted_total', exactly(4)));
  t.equal(told.get('trawl_tasks_dead_total'), 2);
  t.equal(told.get('trawl_task_duration_seconds_count'), 4);
});
