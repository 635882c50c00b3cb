/** Autoscaling: what the autoscaler wants, what is there, and what it decides by. */
import { lines, number, stack, type Dashboard } from './dashboard.ts';
import { ask, cluster } from './queries.ts';

export const autoscaling: Dashboard = {
  name: 'autoscaling',
  title: 'Trawl: autoscaling',
  description: 'How many workers the autoscaler wants, how many there are, and what it decides by.',
  rows: [
    {
      title: 'Now',
      panels: [
        number({
          title: 'Workers wanted',
          unit: 'short',
          width: 6,
          queries: [ask('max(trawl_workers_desired)', 'wanted')],
        }),
        number({
          title: 'Workers there',
          unit: 'short',
          width: 6,
          queries: [ask('trawl:active_workers', 'running')],
        }),
        number({
          title: 'Backlog',
          description: 'Ready and running; work that waits for its time is no load.',
          unit: 'short',
          width: 6,
          queries: [ask('trawl:backlog', 'tasks')],
        }),
        number({
          title: 'Time to drain',
          description: 'Of the backlog, at the pace of the last minute; 0 while nothing moves.',
          unit: 's',
          width: 6,
          queries: [ask('trawl:backlog / (trawl:jobs_per_second > 0) or trawl:backlog * 0', 'to drain')],
        }),
      ],
    },
    {
      title: 'Decisions',
      panels: [
        lines({
          title: 'Wanted and there',
          unit: 'short',
          queries: [
            ask(cluster('trawl_workers_desired'), 'wanted'),
            ask('trawl:active_workers', 'running'),
            ask(cluster('trawl_actors{actor_role="worker", status="draining"}'), 'draining'),
          ],
        }),
        stack({
          title: 'Decisions within 5 minutes',
          unit: 'short',
          queries: [ask('max by (action) (increase(trawl_autoscale_decisions_total[5m]))', '{{action}}')],
        }),
      ],
    },
    {
      title: 'What it decides by',
      panels: [
        lines({
          title: 'Backlog',
          unit: 'short',
          queries: [
            ask('trawl:queue_ready', 'ready'),
            ask('trawl:queue_running', 'running'),
            ask(cluster('trawl_queue_delayed'), 'delayed (no load)'),
          ],
        }),
        lines({
          title: 'Backlog per worker',
          unit: 'short',
          queries: [ask('trawl:backlog / (trawl:active_workers > 0)', 'tasks')],
        }),
        lines({
          title: 'Slots',
          unit: 'short',
          queries: [ask(cluster('trawl_slots'), '{{state}}')],
        }),
        lines({
          title: 'Tasks per second',
          unit: 'ops',
          queries: [ask('trawl:jobs_per_second', 'settled')],
        }),
        lines({
          title: 'Oldest task that is ready',
          unit: 's',
          queries: [ask('max(trawl_queue_oldest_seconds) or vector(0)', 'waits')],
        }),
        lines({
          title: 'Processor of the workers',
          description: '1 is one core.',
          unit: 'percentunit',
          queries: [
            ask('sum(rate(process_cpu_seconds_total{role="worker"}[$__rate_interval]))', 'all workers'),
          ],
        }),
      ],
    },
  ],
};
