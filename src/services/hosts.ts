/** Hosts, for people: what they ask for, how they are doing, closing and opening them. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { HostLimits } from '../domain/egress.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { HostRecord } from '../policy/egress/records.ts';
import type { HostView } from '../policy/egress/views.ts';
import { parseHost } from '../wire/host-key.ts';
import { page, pageRequest } from './page.ts';
import type { EgressAccess } from './proxies.ts';
import { readRequest } from './read-request.ts';

/** As many as fit into one message. */
const EGRESSES_SHOWN_MAX = 1_000;

const amount = v.pipe(v.number(), v.integer(), v.minValue(0));
const ms = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(86_400_000));
const hostRequest = v.object({ host: v.string() });
const closeRequest = v.object({
  host: v.string(),
  /** Absent: until somebody opens it. */
  forMs: v.optional(v.pipe(amount, v.minValue(1))),
  reason: v.optional(v.pipe(v.string(), v.maxLength(200)), 'by hand'),
});
const setRequest = v.object({
  host: v.string(),
  delayMs: v.optional(ms),
  egressDelayMs: v.optional(ms),
  jitter: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(10))),
  concurrency: v.optional(amount),
  perHour: v.optional(amount),
  perMinute: v.optional(amount),
  egressPerHour: v.optional(amount),
  egressPerMinute: v.optional(amount),
  throttleScope: v.optional(v.picklist(['host', 'egress'])),
});
const listRequest = v.object({ ...pageRequest.entries, state: v.optional(v.picklist(['open', 'closed'])) });

export function createHostServices({ change, look }: EgressAccess): Record<string, Verb> {
  return {
    'hosts.ls': (body) => {
      const { state, ...where } = readRequest(listRequest, body);
      const found = look((book, now) =>
        page(book.hosts(now), where, ({ host }) => host)
          .filter((view) => state === undefined || view.state === state)
          .map(({ egresses, ...view }) => ({ ...view, egresses: egresses.length })),
      );
      return { hosts: found.items, ...found.rest };
    },
    'hosts.show': (body) => {
      const host = parseHost(readRequest(hostRequest, body).host);
      const found = look((book, now) => book.host(host, now));
      if (!found)
        throw new Failure('INVALID', `nothing is known about ${host}`, {
          hint: '`trawl hosts ls` shows all of them.',
        });
      return describe(found);
    },
    'hosts.set': async (body) => {
      const { host: given, throttleScope, ...limits } = readRequest(setRequest, body);
      const host = parseHost(given);
      return change((book, now) => {
        const before = book.hostRecord(host);
        book.putHost(recordOf(host, { before, limits, throttleScope }), now);
        const view = book.host(host, now);
        return view ? describe(view) : { host };
      });
    },
    'hosts.close': async (body) => {
      const { host: given, forMs, reason } = readRequest(closeRequest, body);
      const host = parseHost(given);
      return change((book, now) => {
        const untilMs = forMs === undefined ? undefined : now + forMs;
        book.closeHost(host, { untilMs, reason }, now);
        return { host, state: 'closed', ...(untilMs !== undefined && { until: untilMs }) };
      });
    },
    'hosts.open': async (body) => {
      const host = parseHost(readRequest(hostRequest, body).host);
      return change((book, now) => {
        book.openHost(host, now);
        return { host, state: 'open' };
      });
    },
  };
}

type Wanted = Omit<v.InferOutput<typeof setRequest>, 'host' | 'throttleScope'>;

/** What is not named stays as people set it before. */
function recordOf(
  host: string,
  {
    before,
    limits,
    throttleScope,
  }: { before: HostRecord | undefined; limits: Wanted; throttleScope: HostRecord['throttleScope'] },
): HostRecord {
  const { egressPerHour, egressPerMinute, ...plain } = limits;
  const set = Object.fromEntries(
    Object.entries(plain).filter(([, value]) => value !== undefined),
  ) as Partial<HostLimits>;
  const capsBefore = before?.limits?.egressCaps ?? { perHour: 0, perMinute: 0 };
  const perEgress = egressPerHour !== undefined || egressPerMinute !== undefined;
  const egressCaps = {
    perHour: egressPerHour ?? capsBefore.perHour,
    perMinute: egressPerMinute ?? capsBefore.perMinute,
  };
  return {
    type: 'host',
    host,
    limits: { ...before?.limits, ...set, ...(perEgress && { egressCaps }) },
    throttleScope: throttleScope ?? before?.throttleScope,
  };
}

function describe({ egresses, ...view }: HostView): object {
  return { ...view, egressCount: egresses.length, egresses: egresses.slice(0, EGRESSES_SHOWN_MAX) };
}
