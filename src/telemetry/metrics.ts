/** The metrics that every actor has, each spelled once. Rates and ratios are left to Prometheus. */
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { Role } from '../domain/role.ts';
import type { LoopDelay } from './loop-delay.ts';

export interface ActorMetrics {
  readonly registry: Registry;
  readonly natsReconnects: Counter;
  setNatsUp(up: boolean): void;
}

export interface ActorFacts {
  readonly role: Role;
  readonly id: string;
  readonly version: string;
  readonly loopDelay: LoopDelay;
  readonly heartbeatFailures: () => number;
  readonly inFlight: () => number;
}

/** The longest that a timer takes. */
const NEVER_MS = 2 ** 31 - 1;

export function createActorMetrics(facts: ActorFacts): ActorMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role: facts.role, actor: facts.id });
  // Its histogram of the loop's lag wakes an idle process a hundred times a second; we look at the loop ourselves.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const part of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    registry.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`);
  // These end in _total but are gauges, which `promtool check metrics` refuses; the same facts come without the suffix.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);

  gauge('trawl_build_info', 'Always 1; the version is a label.', { version: facts.version }, () => 1);
  gauge(
    'trawl_event_loop_stall_seconds',
    'Worst event-loop stall since the last scrape.',
    {},
    () => facts.loopDelay.takeMaxMs() / 1e3,
  );
  gauge(
    'trawl_event_loop_stall_max_seconds',
    'Worst event-loop stall since the start.',
    {},
    () => facts.loopDelay.maxMs() / 1e3,
  );

  gauge('trawl_tasks_in_flight', 'Tasks that this actor has in hand.', {}, facts.inFlight);

  const failures = new Counter({
    name: 'trawl_heartbeat_failures_total',
    help: 'Heartbeats that could not be stored.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(facts.heartbeatFailures());
    },
  });
  failures.inc(0);
  const natsUp = new Gauge({
    name: 'trawl_nats_up',
    help: '1 while connected to NATS.',
    registers: [registry],
  });
  natsUp.set(1);
  const natsReconnects = new Counter({
    name: 'trawl_nats_reconnects_total',
    help: 'Times the connection to NATS came back.',
    registers: [registry],
  });

  return { registry, natsReconnects, setNatsUp: (up) => natsUp.set(up ? 1 : 0) };

  function gauge(name: string, help: string, labels: Record<string, string>, read: () => number): void {
    new Gauge({
      name,
      help,
      labelNames: Object.keys(labels),
      registers: [registry],
      collect() {
        this.set(labels, read());
      },
    });
  }
}
