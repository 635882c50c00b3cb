/** The page of a real cluster: everything on it moves when the thing moves. */
import t from 'tap';
import { parseSnapshot, type Snapshot } from '../../src/domain/snapshot.ts';
import { askActor } from '../../src/nats/mailbox.ts';
import { openDemoSite } from '../kit/demo-world.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { above, exactly, fallenCounters, is, startWatched } from '../kit/watched-cluster.ts';

/** What need not move. */
const CONSTANTS = new Set([
  'trawl_build_info', // the version of a process
  'trawl_stream_limit_bytes', // settings of the streams
  'trawl_tasks_in_flight', // of the exporter itself, which has none
]);

t.test('every metric moves when the thing moves', async (t) => {
  const site = await openDemoSite(t);
  const tired = await openDemoSite(t);
  const cluster = await startWatched(t, {
    'fetch.allowLoopback': [site, tired].map(({ host, port }) => `${host}:${port}`).join(','),
  });
  const { call, until, start, connection, names, bucket } = cluster;
  await until(is('trawl_tasks_done_total', exactly(0)));
  await start('coordinator', 'c1');
  await start('proxy-manager', 'p1');
  await until(is('trawl_leader{lead="proxy-manager",actor_id="p1"}', exactly(1)));
  await bucket.put('control.scale', Buffer.from('{"desired":4,"decisions":{"up":1}}'));

  // Nobody works yet: what is taken in waits, and what is submitted to the second run waits before that.
  const submit = (scraper: string, run: string, tasks: object[]): Promise<unknown> =>
    connection.js.publish(names.submit(scraper, run), JSON.stringify(tasks));
  await submit('gate', 'first', [
    { key: 'a', priority: 5 },
    { key: 'a', priority: 5 },
    { key: 'b', priority: 5, input: { fail: true } },
    { key: 'held', priority: 5, input: { hold: true } },
  ]);
  await until(is('trawl_runs{state="active"}', above(0)));
  await submit('gate', 'second', [{ key: 'a' }]);
  await until(is('trawl_queue_intake', above(0)));
  await until(is('trawl_runs{state="queued"}', above(0)));
  await call('submit', { scraper: 'gate', tasks: [{ priority: 'high' }] });
  await until(is('trawl_queue_oldest_seconds', above(0)));
  await until((page) => page.get('trawl_queue_ready{priority="5"}') === 3);

  const worker = await start('worker', 'w1');
  await until(is('trawl_queue_running{priority="5"}', above(0)));
  await until(is('trawl_slots{state="busy"}', exactly(1)));
  await bucket.put('control.scale', Buffer.from('{"desired":5,"decisions":{"up":2}}'));
  await until(is('trawl_workers_desired', exactly(5)));

  await submit('visit', 'pages', [
    { url: `${site.url}/` },
    { url: `${site.url}/nowhere` },
    { url: `${site.url}/ban?after=0` },
    { key: 'again', url: `${site.url}/?again`, input: { once: 'again' } },
    { url: `${tired.url}/throttle?after=0&retry=60` },
  ]);
  await submit('member', 'members', [{ url: `${site.url}/` }]);
  const host = `${site.host}:${site.port}`;
  await until(is('trawl_tasks_retried_total{code="NETWORK"}', exactly(1)));
  await until(is('trawl_tasks_deferred_total{reason="throttled"}', above(0)));
  await until(is(`trawl_host_requests_total{host="${host}",class="2xx"}`, above(1)));
  await until(is(`trawl_host_requests_total{host="${host}",class="4xx"}`, above(1)));
  await until(is(`trawl_host_blocks_total{host="${host}"}`, above(0)));
  await until(is('trawl_pages_total{outcome="ok"}', above(2)));
  await until(is('trawl_egress_hosts_closed', above(0)));
  await until(is('trawl_queue_delayed', above(0)));
  await until((page) =>
    [...page].some(([series, value]) => series.startsWith('trawl_sessions{') && value > 0),
  );
  await call('proxies.add', { url: 'http://127.0.0.1:1', id: 'p' });
  await until(is('trawl_proxies{state="available"}', exactly(1)));

  await call('dead.retry', { run: 'first' });
  await until(is('trawl_tasks_redriven_total', above(0)));
  await call('run.pause', { run: 'second' });
  await until(is('trawl_runs{state="paused"}', exactly(1)));
  await call('run.cancel', { run: 'first' });
  await until(is('trawl_tasks_cancelled_total', above(0)));

  const body = await (await fetch(`${cluster.url}/snapshot`)).json();
  const snapshot: Snapshot = parseSnapshot(body);
  t.match(snapshot, {
    workersDesired: 5,
    runs: { paused: 1 },
    workers: [{ id: 'w1', slots: 3, slotsNow: 3 }],
  });
  t.ok((snapshot.workers[0]?.memoryBytes ?? 0) > 1e7);
  t.ok(snapshot.recent.seconds > 0 && (snapshot.recent.taskMs ?? 0) > 0 && (snapshot.recent.waitMs ?? 0) > 0);
  t.same(parseSnapshot(await call('snapshot', {})).totals.accepted, snapshot.totals.accepted, 'and by NATS');
  const targets = (await (await fetch(`${cluster.url}/targets`)).json()) as { labels: object }[];
  t.same(targets.map(({ labels }) => (labels as { trawl_actor: string }).trawl_actor).sort(), [
    'c1',
    'e1',
    'p1',
    'w1',
  ]);
  t.match(targets, [{ targets: [/^127\.0\.0\.1:\d+$/], labels: { trawl_role: String } }]);

  const constants = (): string[] => {
    return cluster.movement
      .constants()
      .filter((name) => name.startsWith('trawl_') && !CONSTANTS.has(name))
      .sort();
  };
  const still = constants();
  worker.abort();
  await worker.done;
  await cluster.server.kill('SIGKILL');
  await until(is('trawl_nats_up{role="exporter",actor="e1"}', exactly(0)));
  const alone = await until(is('trawl_snapshot_failures_total', above(0)));
  t.notOk(alone.has('trawl_tasks_done_total'), 'what nobody knows now is not told');
  const refused = await fetch(`${cluster.url}/snapshot`);
  t.equal(refused.status, 503);
  t.match(await refused.json(), { error: 'not connected to NATS' });
  await until(is('trawl_heartbeat_failures_total{role="exporter",actor="e1"}', above(0)));
  await cluster.server.start();
  await until(is('trawl_tasks_done_total', above(0)));

  const atLast = new Set(constants());
  t.same(
    still.filter((name) => !atLast.has(name)),
    [
      'trawl_heartbeat_failures_total',
      'trawl_nats_reconnects_total',
      'trawl_nats_up',
      'trawl_snapshot_failures_total',
    ],
    'and those that move when NATS goes and comes',
  );
  t.same(fallenCounters(cluster), [], 'and no counter has gone down');
});

t.test('a worker that holds many at once answers for itself', async (t) => {
  const cluster = await startWatched(t, { 'worker.concurrency': '5' });
  const { until, start, submitAll, connection, names } = cluster;
  await start('coordinator', 'c1');
  await start('worker', 'w1');
  await submitAll(
    'held',
    Array.from({ length: 4 }, (_, n) => ({ key: `k${n}`, priority: 5, input: { hold: true } })),
  );
  const page = await until(is('trawl_slots{state="busy"}', exactly(4)));
  t.equal(page.get('trawl_slots{state="all"}'), 5);
  t.equal(page.get('trawl_queue_running{priority="5"}'), 4);
  await askActor(connection, { names, role: 'worker', id: 'w1', verb: 'pause', timeoutMs: 5_000 });
  const { workers } = await untilSo(
    async () => parseSnapshot(await (await fetch(`${cluster.url}/snapshot`)).json()),
    (found) => found.workers[0]?.paused === true,
  );
  t.match(workers, [{ id: 'w1', status: 'running', busy: 4, paused: true }]);
});
