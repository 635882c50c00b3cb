/** A page of metrics, read: its series with their values, and what moved between many readings of it. */

export type Series = ReadonlyMap<string, number>;

export async function readMetrics(url: string): Promise<Series> {
  const response = await fetch(`${url}/metrics`);
  return parseMetrics(await response.text());
}

export function parseMetrics(text: string): Series {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** The name of the metric that a series belongs to; those of a histogram are one. */
export function metricOf(series: string): string {
  return series.replace(/\{.*$/, '').replace(/_(bucket|sum|count)$/, '');
}

export interface Movement {
  see(page: Series): void;
  /** Metrics of which no series has ever changed, come or gone. */
  constants(): string[];
  /** Series that were seen to go down. */
  fallen(): string[];
}

export function watchMovement(): Movement {
  const metrics = new Set<string>();
  const moved = new Set<string>();
  const fallen = new Set<string>();
  let last: Series | undefined;
  return {
    see(page) {
      for (const [series, value] of page) {
        const before = last?.get(series);
        metrics.add(metricOf(series));
        if (last && before !== value) moved.add(metricOf(series));
        if (before !== undefined && value < before) fallen.add(series);
      }
      for (const series of last?.keys() ?? []) if (!page.has(series)) moved.add(metricOf(series));
      last = page;
    },
    constants: () => [...metrics].filter((name) => !moved.has(name)),
    fallen: () => [...fallen],
  };
}
