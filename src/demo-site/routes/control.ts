/** What the site tells about itself; these requests are not recorded. */
import type { LogReader } from '../request-log.ts';
import { countBy, findMaxConcurrent, findMaxPerWindow, findSpacing } from '../seen.ts';
import type { Sessions } from '../sessions.ts';
import { readNumber, sendJson, sendText, type Pages } from '../visit.ts';

export interface ControlParts {
  readonly log: LogReader;
  readonly sessions: Sessions;
  readonly sockets: () => number;
  readonly proxies: () => readonly string[];
  readonly reset: () => void;
}

const RECORDS_MAX = 1000;

export function controlPages({ log, sessions, sockets, proxies, reset }: ControlParts): Pages {
  return {
    __log(visit) {
      const since = readNumber(visit, 'since', { fallback: 0, max: Infinity });
      const records = log
        .records()
        .filter(({ seq }) => seq > since)
        .slice(0, RECORDS_MAX);
      sendJson(visit, { records, next: records.at(-1)?.seq ?? since, dropped: log.dropped() });
    },
    __stats: (visit) =>
      sendJson(visit, {
        ...summarise(log),
        sockets: sockets(),
        sessions: { count: sessions.count(), mixed: sessions.mixed() },
      }),
    __reset(visit) {
      reset();
      sendJson(visit, { reset: true });
    },
    __proxies: (visit) =>
      sendText(
        visit,
        proxies()
          .map((line) => `${line}\n`)
          .join(''),
      ),
  };
}

function summarise(log: LogReader): object {
  const records = log.records();
  return {
    requests: records.length,
    dropped: log.dropped(),
    open: log.open(),
    byStatus: countBy(records, ({ status }) => String(status ?? 'none')),
    byEgress: countBy(records, ({ egress }) => egress),
    byHost: countBy(records, ({ host }) => host),
    maxConcurrent: findMaxConcurrent(records),
    maxConcurrentPerIp: findMaxConcurrent(records, { by: 'ip' }),
    // JSON has no Infinity: null = fewer than two requests.
    spacingMs: findSpacing(records),
    spacingPerIpMs: findSpacing(records, { by: 'ip' }),
    maxPerMinute: findMaxPerWindow(records, 60_000),
    maxPerMinutePerIp: findMaxPerWindow(records, 60_000, { by: 'ip' }),
    maxPerHourPerIp: findMaxPerWindow(records, 3_600_000, { by: 'ip' }),
  };
}
