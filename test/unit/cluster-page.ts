/** The page of the cluster: what is known of it, by the rules of Prometheus, and no more lines than there should be. */
import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSnapshot } from '../../src/domain/snapshot.ts';
import { NO_TALLY } from '../../src/domain/tally.ts';
import { NO_COUNTS } from '../../src/policy/counters.ts';
import { createSamples } from '../../src/policy/recent.ts';
import { createShownHosts } from '../../src/policy/shown-hosts.ts';
import { addTallies, nextTally } from '../../src/policy/tally.ts';
import { listTargets } from '../../src/policy/targets.ts';
import { describeCluster } from '../../src/telemetry/cluster-metrics.ts';
import { createEgressMetrics } from '../../src/telemetry/egress-metrics.ts';
import { renderFamilies } from '../../src/telemetry/exposition.ts';
import { createFetchMetrics } from '../../src/telemetry/fetch-metrics.ts';
import { watchLoopDelay } from '../../src/telemetry/loop-delay.ts';
import { createActorMetrics } from '../../src/telemetry/metrics.ts';
import { createSinkMetrics } from '../../src/telemetry/sink-metrics.ts';
import { projectRoot } from '../../src/project-root.ts';
import { createTally } from '../../src/telemetry/tally.ts';
import { makeBeat, makeFacts } from '../kit/cluster-facts.ts';

const EVERYTHING = {
  egress: { proxies: {}, sessions: {}, leases: 0, hosts: 0, hostsClosed: 0 },
  workersDesired: 2,
};

t.test('names, types and help are as Prometheus wants them', async (t) => {
  const families = describeCluster(makeFacts(EVERYTHING));
  const names = families.map(({ name }) => name);
  t.equal(new Set(names).size, names.length, 'each once');
  for (const { name, help, type } of families) {
    t.match(name, /^trawl_[a-z_]+$/);
    t.match(help, /^[A-Z].*\.$/, name);
    t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    t.notMatch(name, /_(ms|milliseconds|kb|percent)$/);
  }
});

t.test('no name is also on the page of an actor, where sums would count it twice', async (t) => {
  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  const facts = {
    role: 'worker',
    id: 'w1',
    version: '1',
    heartbeatFailures: () => 0,
    inFlight: () => 0,
  } as const;
  const { registry } = createActorMetrics({ ...facts, loopDelay });
  createFetchMetrics(registry, () => ({ waiting: 0, leases: 0, sockets: 0, browserPages: 0 }));
  createEgressMetrics(registry);
  createSinkMetrics(registry, 's');
  const own = new Set(registry.getMetricsAsArray().map(({ name }) => name));
  t.ok(own.has('trawl_fetches_total'));
  const both = describeCluster(makeFacts(EVERYTHING, { decisions: {} })).filter(({ name }) => own.has(name));
  t.same(both, []);
});

t.test('the table in the README has all of them, and no others', async (t) => {
  const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  const section = readme.split('\n## Metrics\n')[1]?.split(/\n###? /)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  const told = new Set(rows.join('\n').match(/\btrawl_[a-z_]+/g));
  const names = describeCluster(makeFacts(EVERYTHING, { decisions: {} })).map(({ name }) => name);
  t.same([...told].sort(), [...names, 'trawl_snapshot_failures_total'].sort());
});

t.test('a family without a line is not told at all; a histogram adds up; labels are escaped', async (t) => {
  const text = renderFamilies([
    { name: 'a_total', help: 'A.', type: 'counter', lines: [] },
    { name: 'b', help: 'B\nor \\.', type: 'gauge', lines: [{ labels: { x: 'say "\\\n"' }, value: 1.5 }] },
  ]);
  t.equal(text, '# HELP b B\\nor \\\\.\n# TYPE b gauge\nb{x="say \\"\\\\\\n\\""} 1.5\n');
  const tally = createTally();
  for (const ms of [1, 30, 30, 10_000_000]) tally.attempted(ms);
  const page = renderFamilies(describeCluster(makeFacts({ tally: tally.take() ?? NO_TALLY })));
  t.match(page, /trawl_task_duration_seconds_bucket\{le="0.005"\} 1\n/);
  t.match(page, /trawl_task_duration_seconds_bucket\{le="0.05"\} 3\n/);
  t.match(page, /trawl_task_duration_seconds_bucket\{le="1800"\} 3\n/);
  t.match(page, /trawl_task_duration_seconds_bucket\{le="\+Inf"\} 4\n/);
  t.match(page, /trawl_task_duration_seconds_sum 10000.061\n/);
  t.match(page, /trawl_task_duration_seconds_count 4\n/);
});

t.test('fifty workers on ten thousand hosts: the page has as many lines as with twenty', async (t) => {
  const shown = createShownHosts(20);
  const count = (hosts: number): number => {
    let sum = NO_TALLY;
    for (let worker = 0; worker < 50; worker += 1) {
      const tally = createTally();
      for (let n = 0; n < hosts; n += 1) {
        const host = `h${(n * 7 + worker) % hosts}.test`;
        tally.fetched('ok', { ms: 5, bytes: 1, host, status: 200, blocked: false, isPage: true });
      }
      sum = addTallies(sum, nextTally(NO_TALLY, tally.take() ?? NO_TALLY), 2_000);
    }
    const facts = makeFacts({ tally: sum }, { hosts: shown.update(sum, 0) });
    const page = renderFamilies(describeCluster(facts));
    const lines = page.split('\n').filter((line) => line.startsWith('trawl_host_requests_total{'));
    const requests = lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    t.equal(requests, 50 * hosts, 'and none is missing');
    return page.split('\n').filter((line) => line.startsWith('trawl_host_')).length;
  };
  t.equal(count(20), 21 * 7);
  t.equal(count(10_000), 21 * 7);
});

t.test(
  'a snapshot: what workers say now before what they said then; what no lane knows is delayed',
  async (t) => {
    const { snapshot } = makeFacts({
      counts: { ...NO_COUNTS, accepted: 5, duplicates: 2 },
      tally: { ...NO_TALLY, refused: 1, retried: { NETWORK: 2, TARGET: 3 } },
      queue: {
        lanes: [{ priority: 3, ready: 4, running: 2 }],
        ready: 4,
        running: 2,
        stored: 9,
        oldestReadyAt: 4_000,
      },
      intake: 7,
      beats: [
        makeBeat({ id: 'w1', limits: { concurrency: 10 }, inFlight: 9 }),
        makeBeat({
          id: 'w2',
          limits: { concurrency: 8 },
          inFlight: 5,
          slotsNow: 2,
          memoryBytes: 7,
          limitedBy: ['cpu'],
        }),
        makeBeat({ id: 'w3', status: 'stopped' }),
        makeBeat({ id: 'c1', role: 'coordinator' }),
      ],
      loads: new Map([['w1', { running: 3, starved: 1, memoryBytes: 100 }]]),
    });
    t.match(snapshot.queue, { ready: 4, running: 2, delayed: 3, intake: 7, oldestReadyMs: 6_000 });
    t.match(snapshot.totals, { submitted: 8, accepted: 5, retried: 5 });
    t.match(snapshot.workers, [
      { id: 'w1', slots: 10, slotsNow: 10, busy: 3, starved: 1, memoryBytes: 100, limitedBy: [] },
      { id: 'w2', slots: 8, slotsNow: 2, busy: 5, starved: 0, memoryBytes: 7, limitedBy: ['cpu'] },
    ]);
    t.equal(snapshot.workers.length, 2);
    t.same(
      parseSnapshot(JSON.parse(JSON.stringify(snapshot))),
      snapshot,
      'and whoever reads it understands it',
    );
  },
);

t.test('what was of late is the difference over a minute', async (t) => {
  const samples = createSamples();
  const at = (seconds: number, done: number): ReturnType<typeof samples.add> =>
    samples.add({
      atMs: seconds * 1e3,
      counts: { done, dead: 0 },
      tally: {
        retried: { NETWORK: done / 2 },
        task: { counts: [done], seconds: done * 0.2 },
        wait: { counts: [0], seconds: 0 },
      },
    });
  t.same(at(0, 100), { seconds: 0, done: 0, dead: 0, failed: 0 }, 'one look tells of no time');
  t.match(at(1, 110), { seconds: 1, done: 10, failed: 5, taskMs: 200, waitMs: undefined });
  for (let second = 5; second <= 120; second += 5) at(second, 100 + second * 10);
  const recent = at(125, 1_350);
  t.ok(recent.seconds >= 55 && recent.seconds <= 60);
  t.equal(recent.done, recent.seconds * 10);
});

t.test('the pages of all actors, as Prometheus finds them', async (t) => {
  t.same(
    listTargets([
      makeBeat({ http: 'http://127.0.0.1:1234' }),
      makeBeat({ id: 'e', role: 'exporter', http: 'http://0.0.0.0:8080', host: 'box7' }),
      makeBeat({ id: 'six', http: 'http://[::1]:9' }),
      makeBeat({ id: 'gone', status: 'stopped', http: 'http://127.0.0.1:1' }),
      makeBeat({ id: 'new' }),
    ]),
    [
      { targets: ['127.0.0.1:1234'], labels: { trawl_role: 'worker', trawl_actor: 'w1' } },
      { targets: ['box7:8080'], labels: { trawl_role: 'exporter', trawl_actor: 'e' } },
      { targets: ['[::1]:9'], labels: { trawl_role: 'worker', trawl_actor: 'six' } },
    ],
  );
});
