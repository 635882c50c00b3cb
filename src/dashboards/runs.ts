/** Tasks and runs: what comes in, what becomes of it, and where the results go. */
import { lines, number, stack, type Dashboard } from './dashboard.ts';
import { ask, cluster, clusterQuantiles, clusterRate, rate } from './queries.ts';

const total = (title: string, series: string): ReturnType<typeof number> =>
  number({ title, unit: 'short', queries: [ask(`max(${series})`, 'since the cluster was made')] });

export const runs: Dashboard = {
  name: 'runs',
  title: 'Trawl: runs and tasks',
  description: 'What comes in, what becomes of it, and where the results go.',
  rows: [
    {
      title: 'Since the cluster was made',
      panels: [
        number({ title: 'Tasks', unit: 'short', queries: [ask('trawl:total_jobs', 'accepted')] }),
        total('Done', 'trawl_tasks_done_total'),
        total('Dead', 'trawl_tasks_dead_total'),
        total('Cancelled', 'trawl_tasks_cancelled_total'),
        total('Put back', 'trawl_tasks_redriven_total'),
        total('Items', 'trawl_items_total'),
      ],
    },
    {
      title: 'Runs',
      panels: [
        stack({ title: 'Runs', unit: 'short', queries: [ask(cluster('trawl_runs'), '{{state}}')] }),
        lines({
          title: 'Submissions',
          description: 'Duplicates are tasks that their run knows already.',
          unit: 'ops',
          queries: [
            ask(clusterRate('trawl_tasks_submitted_total'), 'submitted'),
            ask(clusterRate('trawl_tasks_accepted_total'), 'accepted'),
            ask(clusterRate('trawl_tasks_duplicate_total'), 'duplicates'),
          ],
        }),
        stack({
          title: 'Outcomes',
          unit: 'ops',
          queries: [
            ask(clusterRate('trawl_tasks_done_total'), 'done'),
            ask(clusterRate('trawl_tasks_dead_total'), 'dead'),
            ask(clusterRate('trawl_tasks_cancelled_total'), 'cancelled'),
          ],
        }),
        lines({
          title: 'Intake',
          description: 'Submissions that no coordinator has taken in yet.',
          unit: 'short',
          queries: [ask(cluster('trawl_queue_intake'), 'submissions')],
        }),
      ],
    },
    {
      title: 'Tasks',
      panels: [
        stack({
          title: 'Ready, by priority',
          unit: 'short',
          queries: [ask(cluster('trawl_queue_ready'), 'priority {{priority}}')],
        }),
        stack({
          title: 'Running, by priority',
          unit: 'short',
          queries: [ask(cluster('trawl_queue_running'), 'priority {{priority}}')],
        }),
        stack({
          title: 'Tried again, by code',
          unit: 'ops',
          queries: [ask(clusterRate('trawl_tasks_retried_total'), '{{code}}')],
        }),
        stack({
          title: 'Deferred, by reason',
          description: 'Put off without using up an attempt.',
          unit: 'ops',
          queries: [ask(clusterRate('trawl_tasks_deferred_total'), '{{reason}}')],
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
      ],
    },
    {
      title: 'Sinks',
      panels: [
        lines({
          title: 'Not delivered yet',
          description: 'Records of the ledger before each sink. Empty on a cluster without sinks.',
          unit: 'short',
          queries: [ask(cluster('trawl_sink_lag_records'), '{{sink}}')],
        }),
        lines({
          title: 'Delivered',
          description: 'Empty on a cluster without sinks.',
          unit: 'ops',
          queries: [
            ask(`sum by (sink) (${rate('trawl_sink_items_total')})`, '{{sink}}'),
            ask(`sum by (sink) (${rate('trawl_sink_rejected_total')})`, '{{sink}}: put aside'),
          ],
        }),
      ],
    },
  ],
};
