/** Metrics of sinks: what one delivers, told by itself; how far each is, told by the exporter, also for those that are down. */
import { Counter, Gauge, type Registry } from 'prom-client';

export interface SinkMetrics {
  delivered(facts: { readonly items: number; readonly rejected: number }): void;
  failed(): void;
}

export function createSinkMetrics(registry: Registry, sink: string): SinkMetrics {
  const counter = (name: string, help: string): Counter =>
    new Counter({ name, help, labelNames: ['sink'], registers: [registry] });
  const items = counter('trawl_sink_items_total', 'Items that this process has delivered.');
  const rejected = counter('trawl_sink_rejected_total', 'Items that were refused, and put aside.');
  const failures = counter('trawl_sink_failures_total', 'Times that the target was down.');
  const up = new Gauge({
    name: 'trawl_sink_up',
    help: '0 while the target does not take anything.',
    labelNames: ['sink'],
    registers: [registry],
  });
  for (const each of [items, rejected, failures]) each.inc({ sink }, 0);
  up.set({ sink }, 1);
  return {
    delivered(facts) {
      items.inc({ sink }, facts.items);
      rejected.inc({ sink }, facts.rejected);
      up.set({ sink }, 1);
    },
    failed() {
      failures.inc({ sink });
      up.set({ sink }, 0);
    },
  };
}

export interface SinkLook {
  readonly name: string;
  readonly lag?: number | undefined;
  readonly runner?: string | undefined;
  readonly checkpoint: { readonly seq: number };
}

export function createSinkGauges(registry: Registry, list: () => Promise<readonly SinkLook[]>): void {
  // One reading for all three: they are asked for together.
  let reading: Promise<readonly SinkLook[]> | undefined;
  const read = (): Promise<readonly SinkLook[]> => {
    reading ??= list().finally(() => setImmediate(() => (reading = undefined)));
    return reading;
  };
  gauge(
    'trawl_sink_lag_records',
    'Records of the ledger that the sink has not delivered yet.',
    ({ lag }) => lag,
  );
  gauge(
    'trawl_sink_position',
    'The sequence of the ledger up to which all is delivered.',
    (sink) => sink.checkpoint.seq,
  );
  gauge('trawl_sink_running', '1 while a process runs the sink.', ({ runner }) =>
    runner === undefined ? 0 : 1,
  );

  function gauge(name: string, help: string, value: (sink: SinkLook) => number | undefined): void {
    new Gauge({
      name,
      help,
      labelNames: ['sink'],
      registers: [registry],
      async collect() {
        this.reset();
        for (const sink of await read()) {
          const now = value(sink);
          if (now !== undefined) this.set({ sink: sink.name }, now);
        }
      },
    });
  }
}
