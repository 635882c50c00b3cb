/**
 * Proxy-manager: n copies, one leads. The leader alone owns the `egress` bucket: it reads what its predecessors stored,
 * answers in rounds, and stores before it answers, so that whoever comes next keeps every promise that was made.
 */
import { createBook } from '../policy/egress/book.ts';
import type { BookLimits } from '../policy/egress/limits.ts';
import type { Actor } from '../runtime/actor.ts';
import { createAddressing } from './proxy-manager/addresses.ts';
import type { EgressTerm, ProxyManagerPorts } from './proxy-manager/ports.ts';
import { createProber } from './proxy-manager/prober.ts';
import { createRounds } from './proxy-manager/rounds.ts';

export interface ProxyManagerLimits {
  readonly book: BookLimits;
  /** Probes at once. */
  readonly probesMax: number;
}

export function createProxyManager(ports: ProxyManagerPorts, limits: ProxyManagerLimits): Actor {
  return { role: 'proxy-manager', run: (stop) => ports.lead(stop.quiet, lead) };

  async function lead(term: EgressTerm): Promise<void> {
    const book = createBook(limits.book, term.name);
    const began = performance.now();
    const records = await term.load();
    book.load(records, ports.now());
    ports.log.info('egress.loaded', { records: records.length, ms: Math.round(performance.now() - began) });

    const rounds = createRounds({
      ...ports,
      book,
      commit: (writes) => term.commit(writes),
      address: createAddressing(book, ports.sealAddress),
    });
    const { counter } = rounds;
    const prober = ports.probe && limits.book.probe && probing(ports.probe, limits.book.probe.intervalMs);
    if (prober) rounds.onRound(() => prober.look());
    ports.meters.readWith({
      proxies: () => counter.look((held, now) => held.proxies(now)),
    });
    const close = await term.serve(counter);
    // When the rounds end, for whatever reason, so does what lives by them.
    const over = new AbortController();
    try {
      const probes = prober?.run(over.signal);
      await rounds.run(term.over).finally(() => over.abort());
      await probes;
    } finally {
      over.abort();
      ports.meters.readWith(undefined);
      await close();
    }

    function probing(
      probe: NonNullable<ProxyManagerPorts['probe']>,
      intervalMs: number,
    ): ReturnType<typeof createProber> {
      return createProber({ counter, probe, limits: { intervalMs, concurrency: limits.probesMax } });
    }
  }
}
