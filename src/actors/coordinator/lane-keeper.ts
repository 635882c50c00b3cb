/**
 * Keeps the lanes of single scrapers fitting to what the workers have. One coordinator does this at a time.
 *
 *   some workers lack it → lanes made → told to all: own ── all have it, or nobody → open, until empty ─→ closed
 *                                          ↑                                                    │
 *                                          └──── something was put there all the same (→ open) ←┘
 *
 * Lanes are there before anybody hears of them, and go after everybody was told. A task that is put into lanes that are
 * gone, by a schedule or by somebody who slept, is found, and they are made again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Beat } from '../../domain/beat.ts';
import { messageOf } from '../../domain/failure.ts';
import type { Routes } from '../../domain/routes.ts';
import { planRoutes } from '../../policy/plan-routes.ts';
import type { Log } from '../../telemetry/log.ts';

interface RoutesRecord {
  readonly routes: Routes;
  readonly revision: number;
}

export interface LaneKeeperPorts {
  watchBeats(
    listener: (change: { readonly key: string; readonly beat: Beat | undefined }) => void,
    over: AbortSignal,
  ): Promise<void>;
  load(): Promise<RoutesRecord>;
  store(record: RoutesRecord): Promise<RoutesRecord>;
  readonly lanes: {
    isPossible(): Promise<boolean>;
    open(scrapers: readonly string[]): Promise<void>;
    isEmpty(scraper: string): Promise<boolean>;
    close(scraper: string): Promise<void>;
    hasTasks(scraper: string, place: 'own' | 'shared'): Promise<boolean>;
  };
  readonly log: Log;
}

export interface LaneKeeperLimits {
  readonly everyMs: number;
  /** Lanes that are of no use stay for so long: whoever left may come back. */
  readonly keepMs: number;
}

export const LANE_KEEPER_DEFAULTS: LaneKeeperLimits = { everyMs: 5_000, keepMs: 60_000 };

/** Looks now and then, and as soon as other scrapers are there, until the term is over. */
export async function keepLanes(
  ports: LaneKeeperPorts,
  over: AbortSignal,
  limits: LaneKeeperLimits = LANE_KEEPER_DEFAULTS,
): Promise<void> {
  const { lanes, log } = ports;
  const workers = new Map<string, readonly string[]>();
  /** Since when lanes are of no use (monotonic ms). */
  const uselessSince = new Map<string, number>();
  let wake = new AbortController();
  let toldImpossible = false;
  const goesOn = (): boolean => !over.aborted;

  await ports.watchBeats(({ key, beat }) => {
    const scrapers =
      beat?.role === 'worker' && beat.status === 'running' ? (beat.scrapers ?? undefined) : undefined;
    if (scrapers?.join() === workers.get(key)?.join()) return;
    if (scrapers) workers.set(key, scrapers);
    else workers.delete(key);
    wake.abort();
  }, over);
  over.addEventListener('abort', () => wake.abort(), { once: true });
  while (goesOn()) {
    wake = new AbortController();
    await look().catch((error: unknown) => {
      if (goesOn()) log.warn('lanes.unkept', { reason: messageOf(error) });
    });
    if (goesOn()) await delay(limits.everyMs, undefined, { signal: wake.signal }).catch(() => undefined);
  }

  async function look(): Promise<void> {
    let record = await ports.load();
    const planned = planRoutes(record.routes, [...workers.values()]);
    if (planned.open.length + planned.closed.length > 0 && !(await lanes.isPossible())) {
      if (!toldImpossible) log.warn('lanes.impossible', { hint: 'Run `trawl topology apply`.' });
      toldImpossible = true;
      return;
    }
    const woken = await filter(planned.closed, (scraper) => lanes.hasTasks(scraper, 'own'));
    const open = [...planned.open, ...woken].sort();
    await lanes.open(open);
    const routes = {
      ...planned,
      open,
      closed: without(planned.closed, woken),
      mixed: await filter(planned.own, (scraper) => lanes.hasTasks(scraper, 'shared')),
    };
    record = await tell(record, routes);
    await closeUseless(record);
  }

  async function closeUseless(record: RoutesRecord): Promise<void> {
    const { own, open, closed } = record.routes;
    const useless = await filter(without(open, own), (scraper) => lanes.isEmpty(scraper));
    const now = performance.now();
    for (const scraper of [...uselessSince.keys()])
      if (!useless.includes(scraper)) uselessSince.delete(scraper);
    for (const scraper of useless) if (!uselessSince.has(scraper)) uselessSince.set(scraper, now);
    const ended = useless.filter((scraper) => now - (uselessSince.get(scraper) ?? now) >= limits.keepMs);
    if (ended.length === 0 || !goesOn()) return;
    await tell(record, {
      ...record.routes,
      open: without(open, ended),
      closed: [...closed, ...ended].sort(),
    });
    for (const scraper of ended) await lanes.close(scraper);
  }

  async function tell(record: RoutesRecord, routes: Routes): Promise<RoutesRecord> {
    if (JSON.stringify(routes) === JSON.stringify(record.routes)) return record;
    const { shared, own, open, mixed } = routes;
    log.info('lanes.changed', { shared, own, open, mixed });
    return ports.store({ routes, revision: record.revision });
  }
}

function without(scrapers: readonly string[], some: readonly string[]): string[] {
  return scrapers.filter((scraper) => !some.includes(scraper));
}

async function filter(
  scrapers: readonly string[],
  isSo: (scraper: string) => Promise<boolean>,
): Promise<string[]> {
  const answers = await Promise.all(scrapers.map(isSo));
  return scrapers.filter((_, index) => answers[index]);
}
