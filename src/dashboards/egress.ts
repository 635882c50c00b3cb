/** What leaves the cluster: proxies, sessions, hosts and the proxy-manager's answers. */
import { lines, stack, type Dashboard } from './dashboard.ts';
import { ask, cluster, clusterRate, quantiles, rate } from './queries.ts';

const OF_HOST = '{host=~"$host"}';

export const egress: Dashboard = {
  name: 'egress',
  title: 'Trawl: egress',
  description: 'Proxies, sessions and hosts, and what the proxy-manager grants.',
  choices: [{ name: 'host', title: 'Host', series: 'trawl_host_requests_total', label: 'host' }],
  rows: [
    {
      title: 'Hosts',
      panels: [
        stack({
          title: 'Requests by class',
          unit: 'reqps',
          queries: [
            ask(`sum by (class) (${clusterRate(`trawl_host_requests_total${OF_HOST}`)})`, '{{class}}'),
          ],
        }),
        stack({
          title: 'Requests by host',
          unit: 'reqps',
          queries: [ask(`sum by (host) (${clusterRate(`trawl_host_requests_total${OF_HOST}`)})`, '{{host}}')],
        }),
        lines({
          title: 'Mean time of a request',
          unit: 's',
          queries: [
            ask(
              `sum by (host) (${clusterRate(`trawl_host_seconds_total${OF_HOST}`)}) / sum by (host) (${clusterRate(`trawl_host_requests_total${OF_HOST}`)})`,
              '{{host}}',
            ),
          ],
        }),
        stack({
          title: 'Blocks by host',
          description: '403, 429, captchas and the like.',
          unit: 'reqps',
          queries: [ask(clusterRate(`trawl_host_blocks_total${OF_HOST}`), '{{host}}')],
        }),
        lines({
          title: 'Known and closed hosts',
          unit: 'short',
          queries: [
            ask(cluster('trawl_egress_hosts'), 'known'),
            ask(cluster('trawl_egress_hosts_closed'), 'closed to everybody'),
          ],
        }),
        lines({
          title: 'Time of a page',
          description: 'With redirects, and the wait for leave.',
          unit: 's',
          queries: [0.5, 0.95].map((part) =>
            ask(
              `histogram_quantile(${part}, ${clusterRate('trawl_page_duration_seconds_bucket')})`,
              `${part * 100} %`,
            ),
          ),
        }),
      ],
    },
    {
      title: 'Proxies and sessions',
      panels: [
        stack({
          title: 'Proxies',
          description: 'Empty on a cluster that has none.',
          unit: 'short',
          queries: [ask(cluster('trawl_proxies'), '{{state}}')],
        }),
        stack({
          title: 'Sessions',
          unit: 'short',
          queries: [ask(cluster('trawl_sessions'), '{{state}}')],
        }),
        lines({
          title: 'Share of proxies that can be used',
          unit: 'percentunit',
          queries: [
            ask(
              'sum(max by (state) (trawl_proxies{state=~"available|leased"})) / sum(max by (state) (trawl_proxies))',
              'usable',
            ),
          ],
        }),
        lines({
          title: 'Last probe of each proxy',
          description: '1: it passed. Empty without egress.probeUrl.',
          unit: 'bool',
          queries: [ask('max by (proxy) (trawl_proxy_healthy)', '{{proxy}}')],
        }),
      ],
    },
    {
      title: 'Proxy-manager',
      panels: [
        lines({
          title: 'Grants and denials',
          unit: 'ops',
          queries: [
            ask(`sum(${rate('trawl_egress_grants_total')})`, 'granted'),
            ask(`sum by (reason) (${rate('trawl_egress_denials_total')})`, 'denied: {{reason}}'),
          ],
        }),
        lines({
          title: 'Leases that workers hold',
          unit: 'short',
          queries: [ask(cluster('trawl_egress_leases'), 'leases')],
        }),
        lines({
          title: 'Time of a round of grants',
          unit: 's',
          queries: quantiles('trawl_egress_round_duration_seconds'),
        }),
        lines({
          title: 'Slots that wait for egress',
          unit: 'short',
          queries: [ask(cluster('trawl_slots{state="starved"}'), 'starved')],
        }),
      ],
    },
  ],
};
