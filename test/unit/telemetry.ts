/** What an actor shows of itself moves when the thing moves. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { watchLoopDelay } from '../../src/telemetry/loop-delay.ts';
import { createActorMetrics } from '../../src/telemetry/metrics.ts';
import { servePage } from '../../src/telemetry/page.ts';

function valueOf(text: string, name: string): number {
  const line = text.split('\n').find((row) => row.startsWith(`${name}{`) || row.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
}

t.test('a blocked event loop is seen', async (t) => {
  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  await delay(120);
  loopDelay.takeMaxMs();
  const until = performance.now() + 600;
  while (performance.now() < until);
  await delay(250);
  t.ok(loopDelay.takeMaxMs() > 350);
  t.ok(loopDelay.maxMs() > 350, 'the worst is remembered');
});

t.test('a stall between two looks at a calm loop is seen, and nobody is woken for it', async (t) => {
  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  // Calm after ten looks; the next one is two seconds later.
  await delay(2_300);
  loopDelay.takeMaxMs();
  const { loopCount } = performance.nodeTiming.uvMetricsInfo;
  await delay(300);
  t.ok(performance.nodeTiming.uvMetricsInfo.loopCount - loopCount < 30);
  const until = performance.now() + 600;
  while (performance.now() < until);
  await delay(1_600);
  t.ok(loopDelay.takeMaxMs() > 550);
});

t.test('each reader of the loop delay has its own readings, and a mean beside the worst', async (t) => {
  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  const [one, other] = [loopDelay.openReader(), loopDelay.openReader()];
  t.equal(one.takeMeanMs(), 0, 'of no time nothing is told');
  const until = performance.now() + 600;
  while (performance.now() < until);
  await delay(250);
  const mean = one.takeMeanMs();
  t.ok(mean > 150 && mean <= one.takeMaxMs(), `a mean of ${mean} ms`);
  t.equal(one.takeMaxMs(), 0, 'it was taken');
  t.ok(other.takeMaxMs() > 350, 'and is still there for the other');
});

t.test('metrics move, and their names pass the rules of Prometheus', async (t) => {
  let failures = 0;
  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  const metrics = createActorMetrics({
    role: 'worker',
    id: 'w1',
    version: '1.2.3',
    loopDelay,
    heartbeatFailures: () => failures,
    inFlight: () => 4,
  });
  const read = (): Promise<string> => metrics.registry.metrics();
  t.equal(valueOf(await read(), 'trawl_heartbeat_failures_total'), 0);
  failures = 3;
  metrics.setNatsUp(false);
  metrics.natsReconnects.inc();
  const text = await read();
  t.equal(valueOf(text, 'trawl_heartbeat_failures_total'), 3);
  t.equal(valueOf(text, 'trawl_nats_up'), 0);
  t.equal(valueOf(text, 'trawl_nats_reconnects_total'), 1);
  t.match(text, /trawl_build_info\{version="1\.2\.3",role="worker",actor="w1"\} 1/);
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    t.equal(name?.endsWith('_total') ?? false, type === 'counter', `${name ?? ''} is a ${type ?? ''}`);
  }
});

t.test('the page answers for health, readiness and metrics, and for nothing else', async (t) => {
  let ok = true;
  const page = await servePage({
    host: '127.0.0.1',
    port: 0,
    healthy: () => ({ ok: true, reason: 'running' }),
    ready: () => ({ ok, reason: ok ? 'running' : 'draining' }),
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'x 1\n' }),
  });
  t.teardown(() => page.close());
  const get = (path: string, init?: RequestInit): Promise<Response> => fetch(page.url + path, init);
  t.equal((await get('/healthz')).status, 200);
  t.equal((await get('/readyz')).status, 200);
  ok = false;
  t.equal((await get('/readyz')).status, 503);
  const metrics = await get('/metrics?x=1');
  t.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4');
  t.equal(await metrics.text(), 'x 1\n');
  t.equal((await get('/secrets')).status, 404);
  t.equal((await get('/metrics', { method: 'POST' })).status, 405);
  await t.rejects(
    servePage({
      host: '127.0.0.1',
      port: Number(new URL(page.url).port),
      healthy: () => ({ ok, reason: '' }),
      ready: () => ({ ok, reason: '' }),
      metrics: async () => ({ contentType: '', text: '' }),
    }),
    { code: 'CONFLICT', hint: /http\.actorPort/ },
  );
});
