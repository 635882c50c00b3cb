import t from 'tap';
import { Registry } from 'prom-client';
import { createSinkGauges, createSinkMetrics } from '../../src/telemetry/sink-metrics.ts';

t.test('what a sink tells of itself', async (t) => {
  const registry = new Registry();
  const metrics = createSinkMetrics(registry, 'db');
  metrics.delivered({ items: 5, rejected: 1 });
  metrics.failed();
  const text = await registry.metrics();
  t.match(text, 'trawl_sink_items_total{sink="db"} 5');
  t.match(text, 'trawl_sink_rejected_total{sink="db"} 1');
  t.match(text, 'trawl_sink_failures_total{sink="db"} 1');
  t.match(text, 'trawl_sink_up{sink="db"} 0');
});

t.test('what the exporter tells of all, also of those that are down', async (t) => {
  const registry = new Registry();
  let readings = 0;
  createSinkGauges(registry, async () => {
    readings += 1;
    return [
      { name: 'db', lag: 7, runner: 'sink-1', checkpoint: { seq: 40 } },
      { name: 'new', checkpoint: { seq: 0 } },
    ];
  });
  const text = await registry.metrics();
  t.match(text, 'trawl_sink_lag_records{sink="db"} 7');
  t.match(text, 'trawl_sink_position{sink="db"} 40');
  t.match(text, 'trawl_sink_running{sink="db"} 1');
  t.match(text, 'trawl_sink_running{sink="new"} 0');
  t.notMatch(text, 'trawl_sink_lag_records{sink="new"}');
  t.equal(readings, 1, 'read once for all');
});
