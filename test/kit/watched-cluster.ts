/** A small cluster whose exporter is looked at all the time, and ways to wait for what its page says. */
import { readMetrics, watchMovement, type Movement, type Series } from './metrics-page.ts';
import type { Teardown } from './nats-server.ts';
import { startSmallCluster, untilSo, type SmallCluster } from './small-cluster.ts';

const VISIT = `
  const visit = {
    robots: false,
    retries: 2,
    async run({ url, input, fetch, emit }) {
      if (input.once && !globalThis[input.once]) {
        globalThis[input.once] = true;
        throw Object.assign(new Error('the first time'), { name: 'Failure', code: 'NETWORK' });
      }
      emit({ status: (await fetch(url)).status });
    },
  };
  export const scrapers = [
    { ...visit, name: 'visit' },
    { ...visit, name: 'member', egress: { session: true } },
  ];`;

const FAST = {
  'heartbeat.interval': '200ms',
  'heartbeat.deadAfter': '1s',
  'tasks.retryBase': '1ms',
  'runs.maxActivePerScraper': '1',
  'metrics.fresh': '100ms',
};

export interface Watched extends SmallCluster {
  readonly url: string;
  readonly movement: Movement;
  /** Reads the page until it is so. */
  readonly until: (isSo: (page: Series) => boolean) => Promise<Series>;
}

export async function startWatched(
  t: Teardown,
  flags: Readonly<Record<string, string>> = {},
): Promise<Watched> {
  const cluster = await startSmallCluster(t, { ...FAST, ...flags }, { visit: VISIT });
  const { url } = await cluster.start('exporter', 'e1');
  const movement = watchMovement();
  const read = async (): Promise<Series> => {
    const page = await readMetrics(url);
    movement.see(page);
    return page;
  };
  return { ...cluster, url, movement, until: (isSo) => untilSo(read, isSo) };
}

export const is =
  (series: string, isSo: (value: number) => boolean) =>
  (page: Series): boolean =>
    isSo(page.get(series) ?? NaN);
export const above =
  (limit: number) =>
  (value: number): boolean =>
    value > limit;
export const exactly =
  (wanted: number) =>
  (value: number): boolean =>
    value === wanted;

/** Counters that were seen to go down. */
export function fallenCounters({ movement }: Watched): string[] {
  return movement.fallen().filter((series) => /_(total|bucket|count|sum)(\{|$)/.test(series));
}
