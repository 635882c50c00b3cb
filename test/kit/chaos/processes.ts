/** Which processes the cluster under test has, and how they are set. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { program } from '../../../src/program.ts';
import { projectRoot } from '../../../src/project-root.ts';
import type { ProcessSpec } from './fleet.ts';
import type { ChaosScraperOptions } from './scraper.ts';

/** Of workers, and of coordinators. */
const BUGS = {
  worker: ['ack-first', 'no-fence', 'drop-failed', 'count-own'],
  coordinator: ['ack-early', 'count-blind'],
} as const;

export type Bug = 'none' | (typeof BUGS)['worker' | 'coordinator'][number];

const WORKERS = 3;
const COORDINATORS = 2;
const here = (name: string): string => join(projectRoot, 'dist/test/kit/chaos', name);

export function listProcesses({
  folder,
  url,
  bug,
}: {
  readonly folder: string;
  readonly url: string;
  readonly bug: Bug | undefined;
}): ProcessSpec[] {
  const env = settings(folder, url);
  const specOf = (role: ProcessSpec['role'], number: number, args: readonly string[]): ProcessSpec => {
    const name = `${role}-${number}`;
    return { role, name, args, env, logFile: join(folder, `${name}.log`) };
  };
  return [
    ...Array.from({ length: COORDINATORS }, (_, i) => specOf('coordinator', i, argsOf('coordinator', bug))),
    ...Array.from({ length: WORKERS }, (_, i) => specOf('worker', i, argsOf('worker', bug))),
  ];
}

/**
 * The program as users start it. In the place of whoever is to have a bug, and of all where none is asked for by name,
 * processes of the test's own making.
 */
function argsOf(role: ProcessSpec['role'], bug: Bug | undefined): readonly string[] {
  const own = bug === 'none' || BUGS[role].some((name) => name === bug);
  return own ? [here(`${role}-process.js`), bug ?? 'none'] : [program.main, role];
}

/** Everything that usually takes minutes takes moments here. */
function settings(folder: string, url: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    NATS_URL: url,
    TRAWL_HOME: join(folder, 'home'),
    TRAWL_LOG_FORMAT: 'json',
    TRAWL_LOG_LEVEL: 'info',
    TRAWL_HEARTBEAT_INTERVAL: '300ms',
    TRAWL_HEARTBEAT_DEAD_AFTER: '3s',
    TRAWL_LEADER_TTL: '1s',
    TRAWL_PUBLISHER_ACK_TIMEOUT: '1s',
    TRAWL_WORKER_CONCURRENCY: '5',
    TRAWL_WORKER_PREFETCH: '10',
    TRAWL_WORKER_SCRAPERS: join(folder, 'scrapers'),
    TRAWL_TASKS_RETRY_BASE: '200ms',
    TRAWL_TASKS_RETRY_MAX: '1s',
    TRAWL_RUNS_IDLE_END: '3s',
  };
}

/** The scraper in a folder of its own, as a user's would be. */
export function writeScraper(folder: string, options: ChaosScraperOptions): void {
  const scrapers = join(folder, 'scrapers');
  mkdirSync(scrapers);
  const module = JSON.stringify(pathToFileURL(here('scraper.js')).href);
  writeFileSync(
    join(scrapers, 'chaos.mjs'),
    `import { createChaosScraper } from ${module};\nexport default createChaosScraper(${JSON.stringify(options)});\n`,
  );
}
