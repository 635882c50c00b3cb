/** What a worker fetches, on its own page of metrics. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface FetchGauges {
  readonly waiting: number;
  readonly leases: number;
  readonly sockets: number;
  readonly browserPages: number;
}

export interface FetchMetrics {
  fetched(outcome: string, facts: { readonly ms: number; readonly bytes: number }): void;
}

const BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createFetchMetrics(registry: Registry, read: () => FetchGauges): FetchMetrics {
  const registers = [registry];
  const fetches = new Counter({
    name: 'trawl_fetches_total',
    help: 'Requests by what became of them.',
    labelNames: ['outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'trawl_fetch_duration_seconds',
    help: 'How long requests took, from the first byte sent to the last byte read.',
    buckets: BUCKETS_S,
    registers,
  });
  const bytes = new Counter({
    name: 'trawl_fetch_bytes_total',
    help: 'Bytes of bodies, as they came.',
    registers,
  });
  gauge('trawl_fetch_permits_waiting', 'Requests that wait for leave to be sent.', 'waiting');
  gauge('trawl_fetch_leases', 'Leases of egress in hand.', 'leases');
  gauge('trawl_fetch_sockets', 'Open connections to sites and proxies.', 'sockets');
  gauge('trawl_fetch_browser_pages', 'Pages that the browser has open, or is about to.', 'browserPages');
  return {
    fetched(outcome, { ms, bytes: received }) {
      fetches.inc({ outcome });
      durations.observe(ms / 1e3);
      bytes.inc(received);
    },
  };

  function gauge(name: string, help: string, key: keyof FetchGauges): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read()[key]);
      },
    });
  }
}
