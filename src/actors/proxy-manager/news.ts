/** What of the book's events every worker must hear at once: hosts that closed, and proxies that are no longer to be used. */
import type { EgressEvent } from '../../policy/egress/records.ts';
import type { LeaseView } from '../../policy/egress/views.ts';
import type { ReportReply } from '../../wire/egress.ts';

/** Workers ask again after this, should nobody have opened the host by then. */
const CLOSED_FOR_GOOD_MS = 3_600_000;
/** More than one message holds; the others are told at their renewals. */
const ENDED_MAX = 10_000;

/** Undefined: nothing that could not wait. */
export function describeNews(
  events: readonly EgressEvent[],
  { leases, now }: { leases: () => readonly LeaseView[]; now: number },
): ReportReply | undefined {
  const closed = new Map<string, number>();
  const gone = new Set<string>();
  for (const event of events) {
    if (event.kind === 'host' && event.egress === undefined) {
      if (event.to === 'closed')
        closed.set(event.host, Math.max(1, (event.until ?? now + CLOSED_FOR_GOOD_MS) - now));
      if (event.to === 'open') closed.set(event.host, 0);
    }
    if (event.kind === 'proxy' && (event.to === 'removed' || event.to === 'frozen')) gone.add(event.id);
  }
  if (closed.size === 0 && gone.size === 0) return undefined;
  const ended = gone.size === 0 ? [] : leases().filter(({ egress }) => gone.has(egress));
  return {
    ended: ended.slice(0, ENDED_MAX).map(({ id }) => id),
    closed: [...closed].map(([host, forMs]) => ({ host, forMs })),
  };
}
