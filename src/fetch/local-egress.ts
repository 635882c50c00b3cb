/**
 * Grants without a proxy-manager, for one task here and now: by the manager's own book, which nobody else has a part in.
 * All that is asked for leaves one way: through the proxy that was given, or directly.
 */
import { DIRECT, type ProxyAddress } from '../domain/egress.ts';
import { proxyIdOf } from '../domain/proxy-address.ts';
import { createBook } from '../policy/egress/book.ts';
import { BOOK_DEFAULTS, NO_CAPS } from '../policy/egress/limits.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LeaseGrant, Want, WantAnswer } from '../wire/egress.ts';
import { sealAddress } from '../wire/proxy-record.ts';
import type { Seal } from '../wire/sealed.ts';
import type { EgressPort } from './lease-ports.ts';

/** There is no queue into which the task could be put back: it waits about as long as a request may wait for its leave. */
const AHEAD_MS = 4_000;

export interface LocalWay {
  readonly clock: Clock;
  /** As whoever reads the leases opens it. */
  readonly seal: Seal;
  /** Without it, directly. */
  readonly proxy: ProxyAddress | undefined;
}

export function createLocalEgress({ clock, seal, proxy }: LocalWay): EgressPort {
  const book = createBook({ ...BOOK_DEFAULTS, proxyCaps: NO_CAPS, aheadMs: AHEAD_MS }, 'local');
  const id = proxy ? proxyIdOf(proxy) : DIRECT;
  const way = proxy && sealAddress({ id, address: proxy }, seal);
  const now = (): number => Math.round(clock.epoch());
  if (proxy) book.putProxy({ type: 'proxy', id, address: proxy, weight: 1 }, now());
  return {
    async acquire({ wants, ...asker }) {
      const request = { ...asker, wants: wants.map(oneWay) };
      return kept({ answers: book.acquire(request, now(), Math.random).answers.map(withAddress) });
    },
    report: async (report) => kept(book.report(report, now())),
    onNews: () => () => undefined,
  };

  function oneWay(want: Want): Want {
    return { ...want, via: proxy ? 'proxy' : 'direct' };
  }

  function withAddress(answer: WantAnswer): WantAnswer {
    if (answer.kind !== 'granted' || !way) return answer;
    return { ...answer, leases: answer.leases.map((lease): LeaseGrant => ({ ...lease, ...way })) };
  }

  /** Nobody goes on from this book when we end. */
  function kept<T>(answer: T): T {
    book.takeWrites(now());
    book.takeEvents();
    return answer;
  }
}
