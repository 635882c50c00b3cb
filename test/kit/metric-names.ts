/**
 * Every metric of ours: where it is, what it is, which labels it has. Dashboards, rules and alerts are held to this list,
 * and this list is held to the pages of a real cluster.
 */
export type MetricType = 'counter' | 'gauge' | 'histogram';

export interface MetricFacts {
  readonly type: MetricType;
  readonly labels: readonly string[];
}

type List = Readonly<Record<string, MetricFacts>>;

const counter = (...labels: string[]): MetricFacts => ({ type: 'counter', labels });
const gauge = (...labels: string[]): MetricFacts => ({ type: 'gauge', labels });
const histogram = (...labels: string[]): MetricFacts => ({ type: 'histogram', labels });

/** On the exporter's page alone: the whole cluster. */
export const CLUSTER_METRICS: List = {
  trawl_tasks_submitted_total: counter(),
  trawl_tasks_accepted_total: counter(),
  trawl_tasks_duplicate_total: counter(),
  trawl_tasks_refused_total: counter(),
  trawl_tasks_done_total: counter(),
  trawl_tasks_dead_total: counter(),
  trawl_tasks_cancelled_total: counter(),
  trawl_tasks_redriven_total: counter(),
  trawl_tasks_retried_total: counter('code'),
  trawl_tasks_deferred_total: counter('reason'),
  trawl_items_total: counter(),
  trawl_pages_total: counter('outcome'),
  trawl_page_bytes_total: counter(),
  trawl_host_requests_total: counter('host', 'class'),
  trawl_host_blocks_total: counter('host'),
  trawl_host_seconds_total: counter('host'),
  trawl_actor_starts_total: counter('actor_role'),
  trawl_autoscale_decisions_total: counter('action'),
  trawl_snapshot_failures_total: counter(),
  trawl_task_duration_seconds: histogram(),
  trawl_task_wait_seconds: histogram(),
  trawl_page_duration_seconds: histogram(),
  trawl_queue_ready: gauge('priority'),
  trawl_queue_running: gauge('priority'),
  trawl_queue_delayed: gauge(),
  trawl_queue_intake: gauge(),
  trawl_queue_oldest_seconds: gauge(),
  trawl_slots: gauge('state'),
  trawl_actors: gauge('actor_role', 'status'),
  trawl_proxies: gauge('state'),
  trawl_sessions: gauge('state'),
  trawl_egress_leases: gauge(),
  trawl_egress_hosts: gauge(),
  trawl_egress_hosts_closed: gauge(),
  trawl_runs: gauge('state'),
  trawl_stream_bytes: gauge('stream'),
  trawl_stream_limit_bytes: gauge('stream'),
  trawl_stream_messages: gauge('stream'),
  trawl_leader: gauge('lead', 'actor_id'),
  trawl_workers_desired: gauge(),
  trawl_snapshot_seconds: gauge(),
  trawl_sink_lag_records: gauge('sink'),
  trawl_sink_position: gauge('sink'),
  trawl_sink_running: gauge('sink'),
};

/** On the page of every actor, the exporter's among them. */
export const ACTOR_METRICS: List = {
  trawl_build_info: gauge('version'),
  trawl_event_loop_stall_seconds: gauge(),
  trawl_event_loop_stall_max_seconds: gauge(),
  trawl_tasks_in_flight: gauge(),
  trawl_nats_up: gauge(),
  trawl_nats_reconnects_total: counter(),
  trawl_heartbeat_failures_total: counter(),
};

export const ROLE_METRICS: Readonly<Record<string, List>> = {
  worker: {
    trawl_fetches_total: counter('outcome'),
    trawl_fetch_duration_seconds: histogram(),
    trawl_fetch_bytes_total: counter(),
    trawl_fetch_permits_waiting: gauge(),
    trawl_fetch_leases: gauge(),
    trawl_fetch_sockets: gauge(),
    trawl_fetch_browser_pages: gauge(),
  },
  'proxy-manager': {
    trawl_egress_grants_total: counter(),
    trawl_egress_denials_total: counter('reason'),
    trawl_egress_round_duration_seconds: histogram(),
    trawl_proxy_healthy: gauge('proxy'),
    trawl_proxy_probe_seconds: gauge('proxy'),
    trawl_proxy_probe_status_code: gauge('proxy'),
    trawl_proxy_probe_timestamp_seconds: gauge('proxy'),
  },
  sink: {
    trawl_sink_items_total: counter('sink'),
    trawl_sink_rejected_total: counter('sink'),
    trawl_sink_failures_total: counter('sink'),
    trawl_sink_up: gauge('sink'),
  },
};

/** Of Node and Prometheus, as far as anything of ours asks for them. */
const FOREIGN_METRICS: List = {
  up: gauge(),
  ALERTS: gauge('alertname', 'alertstate'),
  process_cpu_seconds_total: counter(),
  process_resident_memory_bytes: gauge(),
  nodejs_heap_size_used_bytes: gauge(),
};

/** On every series: what tells pages apart. */
export const COMMON_LABELS: readonly string[] = ['job', 'instance', 'role', 'actor'];

/** Everything that can be asked for, histograms by the series they are made of. */
export function knownSeries(): ReadonlyMap<string, MetricFacts> {
  const lists = [CLUSTER_METRICS, ACTOR_METRICS, ...Object.values(ROLE_METRICS), FOREIGN_METRICS];
  return new Map(
    lists.flatMap((list) =>
      Object.entries(list).flatMap(([name, facts]): [string, MetricFacts][] =>
        facts.type === 'histogram'
          ? [
              [`${name}_bucket`, { type: 'counter', labels: [...facts.labels, 'le'] }],
              [`${name}_sum`, { type: 'counter', labels: facts.labels }],
              [`${name}_count`, { type: 'counter', labels: facts.labels }],
            ]
          : [[name, facts]],
      ),
    ),
  );
}
