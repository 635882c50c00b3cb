/** Questions in PromQL. Facts of the whole cluster come from every exporter alike: the largest is taken, never the sum. */
import type { Query } from './dashboard.ts';

/** What tells exporters apart, and nothing about the cluster. */
const WITHOUT = 'without (instance, job, role, actor)';
const WINDOW = '$__rate_interval';

/** A gauge or a counter of the exporter, as it is. */
export function cluster(series: string): string {
  return `max ${WITHOUT} (${series})`;
}

/** How fast a counter of the exporter grows, per second. */
export function clusterRate(series: string): string {
  return `max ${WITHOUT} (rate(${series}[${WINDOW}]))`;
}

/** Per second, of counters on the pages of the actors themselves. */
export function rate(series: string): string {
  return `rate(${series}[${WINDOW}])`;
}

/** Quantiles of a histogram of the exporter; while nothing is observed there are none. */
export function clusterQuantiles(histogram: string): Query[] {
  return quantilesOf(clusterRate(`${histogram}_bucket`));
}

/** Quantiles over the pages of all actors that match. */
export function quantiles(histogram: string, matching = ''): Query[] {
  return quantilesOf(`sum by (le) (${rate(`${histogram}_bucket${matching}`)})`);
}

function quantilesOf(buckets: string): Query[] {
  return [0.5, 0.95, 0.99].map((part) => ({
    expr: `histogram_quantile(${part}, ${buckets})`,
    legend: `${part * 100} %`,
  }));
}

export const ask = (expr: string, legend: string): Query => ({ expr, legend });
