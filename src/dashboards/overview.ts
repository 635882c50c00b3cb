/** The first look: is the cluster well, is the work getting done? */
import { lines, number, stack, table, type Dashboard } from './dashboard.ts';
import { ask, cluster, clusterQuantiles, clusterRate } from './queries.ts';

export const overview: Dashboard = {
  name: 'overview',
  title: 'Trawl: overview',
  description: 'Is the cluster well, and is the work getting done?',
  rows: [
    {
      title: 'Now',
      panels: [
        number({
          title: 'Pending tasks',
          description: 'Waiting for a worker, or for their time.',
          unit: 'short',
          queries: [ask('trawl:pending_jobs', 'pending')],
        }),
        number({
          title: 'Tasks per second',
          description: 'Settled within the last minute, well or badly.',
          unit: 'ops',
          queries: [ask('trawl:jobs_per_second', 'settled')],
        }),
        number({
          title: 'Error rate',
          description: 'Failed attempts of all attempts, over 5 minutes.',
          unit: 'percentunit',
          limits: { warning: 0.05, bad: 0.1 },
          queries: [ask('trawl:error_rate', 'failed')],
        }),
        number({ title: 'Workers', unit: 'short', queries: [ask('trawl:active_workers', 'running')] }),
        number({
          title: 'Oldest task',
          description: 'How long the task at the head of the queue has waited.',
          unit: 's',
          limits: { warning: 600, bad: 1800 },
          queries: [ask('max(trawl_queue_oldest_seconds) or vector(0)', 'waits')],
        }),
        number({
          title: 'Alerts',
          unit: 'short',
          limits: { warning: 1, bad: 3 },
          queries: [ask('count(ALERTS{alertname=~"Trawl.*", alertstate="firing"}) or vector(0)', 'firing')],
        }),
      ],
    },
    {
      title: 'Work',
      panels: [
        lines({
          title: 'Throughput',
          unit: 'ops',
          queries: [
            ask(clusterRate('trawl_tasks_accepted_total'), 'accepted'),
            ask(clusterRate('trawl_tasks_done_total'), 'done'),
            ask(clusterRate('trawl_tasks_dead_total'), 'dead'),
            ask('trawl:retries_per_second', 'tried again'),
          ],
        }),
        stack({
          title: 'Queue',
          unit: 'short',
          queries: [
            ask('trawl:queue_ready', 'ready'),
            ask('trawl:queue_running', 'running'),
            ask(cluster('trawl_queue_delayed'), 'delayed'),
          ],
        }),
        lines({
          title: 'Time of an attempt',
          unit: 's',
          queries: clusterQuantiles('trawl_task_duration_seconds'),
        }),
        lines({
          title: 'Wait for a worker',
          unit: 's',
          queries: clusterQuantiles('trawl_task_wait_seconds'),
        }),
        stack({
          title: 'Pages by outcome',
          unit: 'reqps',
          queries: [ask(clusterRate('trawl_pages_total'), '{{outcome}}')],
        }),
        lines({
          title: 'Items',
          unit: 'ops',
          queries: [ask(clusterRate('trawl_items_total'), 'items')],
        }),
      ],
    },
    {
      title: 'Cluster',
      panels: [
        stack({
          title: 'Actors that run',
          unit: 'short',
          width: 8,
          queries: [ask(cluster('trawl_actors{status="running"}'), '{{actor_role}}')],
        }),
        table({
          title: 'Leaders',
          unit: 'short',
          width: 8,
          queries: [ask('max by (lead, actor_id) (trawl_leader)', '{{lead}}')],
        }),
        table({
          title: 'Versions',
          description: 'Actors by version; more than one row while an upgrade is under way.',
          unit: 'short',
          width: 8,
          queries: [ask('count by (version) (trawl_build_info)', '{{version}}')],
        }),
      ],
    },
  ],
};
