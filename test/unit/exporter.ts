/** The exporter: one look for many readers, and none that is old. */
import t from 'tap';
import { createExporter, type Exporter, type ExporterLimits } from '../../src/actors/exporter.ts';
import type { ClusterFacts } from '../../src/domain/cluster-facts.ts';
import { Failure } from '../../src/domain/failure.ts';
import { createStop } from '../../src/runtime/actor.ts';
import { makeBeat, makeFacts } from '../kit/cluster-facts.ts';
import { quietLog, type Teardown } from '../kit/nats-server.ts';

interface Bench {
  readonly exporter: Exporter;
  looks: number;
  now: number;
  look: () => Promise<ClusterFacts>;
  metrics(): Promise<string>;
  page(path: string): Promise<{ status: number; text: string }>;
}

async function openBench(t: Teardown, limits: Partial<ExporterLimits> = {}): Promise<Bench> {
  const bench = { looks: 0, now: 0, look: () => Promise.resolve(makeFacts()) };
  const exporter = createExporter(
    {
      begin: () => Promise.resolve(),
      look() {
        bench.looks += 1;
        return bench.look();
      },
      beats: () => [makeBeat({ http: 'http://127.0.0.1:1' })],
      now: () => bench.now,
      log: quietLog,
    },
    { freshMs: 1_000, lookMaxMs: 20, everyMs: 3_600_000, ...limits },
  );
  const control = createStop(0);
  const ended = exporter.run(control.stop);
  t.teardown(async () => {
    control.abort();
    await ended;
  });
  await exporter.snapshot(); // the first one is its own
  return Object.assign(bench, {
    exporter,
    metrics: async () => (await exporter.metrics?.()) ?? '',
    page: async (path: string) => {
      const answer = await exporter.pages?.[path]?.();
      if (!answer) throw new Error(`no page ${path}`);
      return answer;
    },
  });
}

t.test('many who ask at once share one look, and the next one is new', async (t) => {
  const bench = await openBench(t);
  const before = bench.looks;
  bench.now = 5_000;
  await Promise.all([bench.metrics(), bench.page('/snapshot'), bench.exporter.snapshot(), bench.metrics()]);
  t.equal(bench.looks, before + 1);
  bench.now = 5_900;
  await bench.metrics();
  t.equal(bench.looks, before + 1, 'fresh enough');
  bench.now = 6_100;
  await bench.metrics();
  t.equal(bench.looks, before + 2);
});

t.test('when nobody answers there is nothing of the cluster, and nothing old', async (t) => {
  const bench = await openBench(t);
  t.match(await bench.metrics(), /trawl_tasks_done_total 0\n.*trawl_snapshot_failures_total 0\n/s);
  bench.now = 2_000;
  bench.look = () => Promise.reject(new Failure('UNAVAILABLE', 'not connected to NATS'));
  t.equal(
    await bench.metrics(),
    '# HELP trawl_snapshot_failures_total Looks at the whole cluster that failed.\n' +
      '# TYPE trawl_snapshot_failures_total counter\ntrawl_snapshot_failures_total 1\n',
  );
  t.match(await bench.page('/snapshot'), { status: 503, text: /"error":"not connected to NATS"/ });
  await t.rejects(bench.exporter.snapshot(), { code: 'UNAVAILABLE' });
  t.match(await bench.page('/targets'), { status: 200, text: /"trawl_actor":"w1"/ });
  bench.look = () => new Promise(() => undefined);
  t.match(await bench.page('/snapshot'), { status: 503, text: /within 20 ms/ });
  bench.look = () => Promise.resolve(makeFacts());
  t.match(await bench.metrics(), /trawl_tasks_done_total 0\n.*trawl_snapshot_failures_total 4\n/s);
  t.equal((await bench.page('/snapshot')).status, 200);
});
