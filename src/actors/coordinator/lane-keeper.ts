/**
 * Keeps the lanes of single scrapers fitting to what the workers have. One coordinator does this at a time.
 *
 *   some workers lack it → lanes made → told to all: own ── all have it, or nobody → open, until empty ─→ closed
 *                                          ↑                                                    │
 *                                          └──── something was put there all the same (→ open) ←┘
 *
 * What nobody has any more is left where it is for a while, and nobody meets it: workers are replaced, and the next one
 * may be loading its scrapers already.
 *
 * Lanes are there before anybody hears of them, and go after everybody was told. A task that is put into lanes that are
 * gone, by a schedule or by somebody who slept, is found, and they are made again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isWorkerToBe, scrapersOf, type Beat } from '../../domain/beat.ts';
import { messageOf } from '../../domain/failure.ts';
import type { Routes } from '../../domain/routes.ts';
import { findLacking, planRoutes, type Owner } from '../../policy/plan-routes.ts';
import type { Log } from '../../telemetry/log.ts';
import { createLasting } from './lasting.ts';

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
  /** Whoever left may come back for so long: its tasks wait, and lanes that are of no use stay. */
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
  const workers = new Map<string, Owner>();
  /** Those that have not said yet which scrapers they have. */
  const loading = new Set<string>();
  const lacking = createLasting();
  const lateLoading = createLasting();
  const useless = createLasting();
  let wake = new AbortController();
  let toldImpossible = false;
  const goesOn = (): boolean => !over.aborted;

  await ports.watchBeats(({ key, beat }) => {
    const scrapers = scrapersOf(beat);
    if (scrapers === undefined && isWorkerToBe(beat)) loading.add(key);
    else loading.delete(key);
    if (scrapers?.join() === workers.get(key)?.scrapers.join()) return;
    if (scrapers) workers.set(key, { scrapers, only: beat?.only });
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
    const owners = [...workers.values()];
    const awaited = findAwaited(findLacking(record.routes, owners));
    const planned = planRoutes(record.routes, { workers: owners, awaited });
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

  /** Of those that nobody has. One that still loads may have any of them, unless it never ends to do so. */
  function findAwaited(scrapers: readonly string[]): string[] {
    const given = lacking.since(scrapers, limits.keepMs);
    const stuck = lateLoading.since([...loading], limits.keepMs);
    return loading.size > stuck.length ? [...scrapers] : without(scrapers, given);
  }

  async function closeUseless(record: RoutesRecord): Promise<void> {
    const { own, open, closed } = record.routes;
    const empty = await filter(without(open, own), (scraper) => lanes.isEmpty(scraper));
    const ended = useless.since(empty, limits.keepMs);
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
