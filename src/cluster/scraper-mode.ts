/** Where the runs of a scraper take place, by the registry, by the scraper itself, or because it is not here. */
import { basename } from 'node:path';
import type { Config } from '../config/fields.ts';
import { readScraperRegistry } from '../config/scraper-registry.ts';
import { Failure } from '../domain/failure.ts';
import type { Mode } from '../domain/mode.ts';
import { decideMode, type ModeDecision } from '../policy/run-mode.ts';
import { noop } from '../scrapers/noop.ts';
import { loadConfiguredScrapers } from './load-scrapers.ts';

/** Throws `INVALID` when it would run here and is not here, or is broken. */
export async function decideRunMode(
  config: Pick<Config, 'registry' | 'worker'>,
  scraper: string,
  asked: Mode | undefined,
): Promise<ModeDecision> {
  const registry = readScraperRegistry(config.registry, process.cwd());
  const registered = Object.hasOwn(registry, scraper) ? registry[scraper]?.mode : undefined;
  // Whoever sends tasks to a cluster needs no scrapers, and does not wait for them to load.
  const early = asked ?? registered;
  if (early === 'distributed') return decideMode({ asked, registered, own: undefined, isKnownHere: false });

  const { scrapers, problems } = await loadConfiguredScrapers(config);
  const found = [...scrapers, noop].find(({ name }) => name === scraper);
  const own = found?.mode;
  const decision = decideMode({ asked, registered, own, isKnownHere: found !== undefined });
  const isBroken = problems.some(({ file }) => basename(file).split('.')[0] === scraper);
  if (found || (decision.mode === 'distributed' && !isBroken)) return decision;
  const broken = problems.map(({ file, reason }) => `${file}: ${reason}`);
  throw new Failure(
    'INVALID',
    [`there is no scraper ${scraper} in ${config.worker.scrapers.join(', ')}`, ...broken].join('\n  '),
    { hint: `Known here: ${scrapers.map(({ name }) => name).join(', ') || 'none'}.` },
  );
}
