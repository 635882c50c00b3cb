/** The workers: how full they are, what they cost, what holds them up. */
import { lines, stack, type Dashboard } from './dashboard.ts';
import { ask, cluster, clusterRate, quantiles, rate } from './queries.ts';

const OF_WORKER = '{role="worker", actor=~"$worker"}';

export const workers: Dashboard = {
  name: 'workers',
  title: 'Trawl: workers',
  description: 'How full the workers are, what they cost and what holds them up.',
  choices: [
    { name: 'worker', title: 'Worker', series: 'trawl_tasks_in_flight{role="worker"}', label: 'actor' },
  ],
  rows: [
    {
      title: 'Room',
      panels: [
        lines({
          title: 'Slots',
          description: 'By settings, allowed at the moment, busy, and of these waiting for egress.',
          unit: 'short',
          queries: [ask(cluster('trawl_slots'), '{{state}}')],
        }),
        stack({
          title: 'Tasks in hand',
          unit: 'short',
          queries: [ask(`trawl_tasks_in_flight${OF_WORKER}`, '{{actor}}')],
        }),
        stack({
          title: 'Workers by status',
          unit: 'short',
          queries: [ask(cluster('trawl_actors{actor_role="worker"}'), '{{status}}')],
        }),
        lines({
          title: 'Starts of actors',
          description: 'A worker that starts again and again is one that dies.',
          unit: 'short',
          queries: [ask('max by (actor_role) (increase(trawl_actor_starts_total[5m]))', '{{actor_role}}')],
        }),
      ],
    },
    {
      title: 'Cost',
      panels: [
        lines({
          title: 'Processor',
          description: '1 is one core.',
          unit: 'percentunit',
          queries: [ask(rate(`process_cpu_seconds_total${OF_WORKER}`), '{{actor}}')],
        }),
        lines({
          title: 'Memory',
          unit: 'bytes',
          queries: [ask(`process_resident_memory_bytes${OF_WORKER}`, '{{actor}}')],
        }),
        lines({
          title: 'Heap in use',
          unit: 'bytes',
          queries: [ask(`nodejs_heap_size_used_bytes${OF_WORKER}`, '{{actor}}')],
        }),
        lines({
          title: 'Stalls of the event loop',
          description: 'The worst since the last scrape.',
          unit: 's',
          limits: { warning: 1, bad: 5 },
          queries: [ask(`trawl_event_loop_stall_seconds${OF_WORKER}`, '{{actor}}')],
        }),
      ],
    },
    {
      title: 'Fetching',
      panels: [
        stack({
          title: 'Requests by outcome',
          unit: 'reqps',
          queries: [ask(`sum by (outcome) (${rate(`trawl_fetches_total${OF_WORKER}`)})`, '{{outcome}}')],
        }),
        lines({
          title: 'Time of a request',
          unit: 's',
          queries: quantiles('trawl_fetch_duration_seconds', OF_WORKER),
        }),
        lines({
          title: 'Received',
          unit: 'Bps',
          queries: [ask(rate(`trawl_fetch_bytes_total${OF_WORKER}`), '{{actor}}')],
        }),
        lines({
          title: 'Waiting for leave to send',
          unit: 'short',
          queries: [ask(`trawl_fetch_permits_waiting${OF_WORKER}`, '{{actor}}')],
        }),
        lines({
          title: 'Open connections',
          unit: 'short',
          queries: [ask(`trawl_fetch_sockets${OF_WORKER}`, '{{actor}}')],
        }),
        lines({
          title: 'Pages and bytes of all workers',
          unit: 'Bps',
          queries: [ask(clusterRate('trawl_page_bytes_total'), 'bytes')],
        }),
      ],
    },
  ],
};
