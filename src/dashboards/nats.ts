/** NATS as the cluster sees it: the streams and their limits, the connections, the leaders. */
import { lines, table, type Dashboard } from './dashboard.ts';
import { ask, cluster, clusterRate, rate } from './queries.ts';

export const nats: Dashboard = {
  name: 'nats',
  title: 'Trawl: NATS',
  description: 'The streams and their limits, the connections, the leaders, as the cluster sees them.',
  rows: [
    {
      title: 'Streams',
      panels: [
        lines({
          title: 'How full they are',
          description: 'Of max_bytes; a full stream refuses what is published to it.',
          unit: 'percentunit',
          limits: { warning: 0.6, bad: 0.8 },
          queries: [
            ask(
              'max by (stream) (trawl_stream_bytes) / (max by (stream) (trawl_stream_limit_bytes) > 0)',
              '{{stream}}',
            ),
          ],
        }),
        lines({
          title: 'Size',
          unit: 'bytes',
          queries: [ask(cluster('trawl_stream_bytes'), '{{stream}}')],
        }),
        lines({
          title: 'Messages',
          unit: 'short',
          queries: [ask(cluster('trawl_stream_messages'), '{{stream}}')],
        }),
        table({
          title: 'Limits',
          unit: 'bytes',
          queries: [ask('max by (stream) (trawl_stream_limit_bytes)', '{{stream}}')],
        }),
      ],
    },
    {
      title: 'Connections',
      panels: [
        lines({
          title: 'Connected',
          description: '1 while the actor has a connection.',
          unit: 'bool',
          queries: [ask('max by (actor) (trawl_nats_up)', '{{actor}}')],
        }),
        lines({
          title: 'Reconnects within 5 minutes',
          unit: 'short',
          queries: [ask('sum by (role) (increase(trawl_nats_reconnects_total[5m]))', '{{role}}')],
        }),
        lines({
          title: 'Heartbeats that could not be stored',
          unit: 'ops',
          queries: [ask(`sum by (role) (${rate('trawl_heartbeat_failures_total')})`, '{{role}}')],
        }),
        table({
          title: 'Leaders',
          unit: 'short',
          queries: [ask('max by (lead, actor_id) (trawl_leader)', '{{lead}}')],
        }),
      ],
    },
    {
      title: 'The exporter',
      panels: [
        lines({
          title: 'Time of a look at the cluster',
          unit: 's',
          queries: [ask(cluster('trawl_snapshot_seconds'), 'snapshot')],
        }),
        lines({
          title: 'Looks that failed',
          unit: 'ops',
          queries: [ask(clusterRate('trawl_snapshot_failures_total'), 'failures')],
        }),
        lines({
          title: 'Pages that Prometheus reaches',
          unit: 'short',
          queries: [ask('sum by (job) (up{job=~"trawl-.*"})', '{{job}}')],
        }),
        lines({
          title: 'Stalls of the event loop, all actors',
          unit: 's',
          queries: [ask('max by (role) (trawl_event_loop_stall_seconds)', '{{role}}')],
        }),
      ],
    },
  ],
};
