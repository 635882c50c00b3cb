/** A local cluster that has everything to do that a dashboard can show, on the demo site with its proxies. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder, type Teardown } from './nats-server.ts';
import type { Program } from './trawl.ts';

const PAGES = 150;
const SLOW_PAGES = 20;

/** Settings under which a few seconds of work show all that can be shown. */
export function busySettings(t: Teardown): Record<string, string> {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'out'));
  const sinks = join(folder, 'sinks.yaml');
  writeFileSync(sinks, `lines:\n  type: ndjson\n  path: ${join(folder, 'out')}\n`);
  return {
    WORKERS: '2',
    TRAWL_SINKS_FILE: sinks,
    TRAWL_WORKER_SCRAPERS: join(projectRoot, 'config/scrapers'),
    TRAWL_HEARTBEAT_INTERVAL: '1s',
    TRAWL_TASKS_RETRY_BASE: '200ms',
    TRAWL_TASKS_RETRIES: '1',
    TRAWL_EGRESS_PER_HOUR: '0',
    TRAWL_EGRESS_PROBE_INTERVAL: '1s',
    TRAWL_RUNS_MAX_ACTIVE_PER_SCRAPER: '10',
    // It decides, and what it calls changes nothing: the number of workers stays the same.
    TRAWL_AUTOSCALE_DRIVER: 'command',
    TRAWL_AUTOSCALE_COMMAND: 'true',
    TRAWL_AUTOSCALE_MIN: '2',
    TRAWL_AUTOSCALE_INTERVAL: '500ms',
    // What it wants then lasts for a few scrapes.
    TRAWL_AUTOSCALE_COOLDOWN_UP: '5s',
    TRAWL_AUTOSCALE_COOLDOWN_DOWN: '0s',
    TRAWL_AUTOSCALE_POLICY: 'per_worker',
    TRAWL_AUTOSCALE_PER_WORKER: '10',
  };
}

/** The demo site on its port, with two proxies. */
export async function startSite(trawl: Program): Promise<{ port: string; proxyFile: string }> {
  const said = await firstLines(trawl.start('demo-site', '--proxies', '2', '--json'), (line) => line === '}');
  const { url, proxies } = JSON.parse(said) as { url: string; proxies: { url: string }[] };
  const proxyFile = join(trawl.home, '../proxies.txt');
  writeFileSync(proxyFile, proxies.map((proxy) => `${proxy.url}\n`).join(''));
  return { port: new URL(url).port, proxyFile };
}

/** Pages that come, that fail, that ask for patience and that turn us away; duplicates; a run that is called off. */
export async function work(trawl: Program, site: string): Promise<void> {
  const pages = Array.from({ length: PAGES }, (_, number) => `${site}/product/${number + 1}`);
  // Enough of them to be seen by a few scrapes.
  const slow = Array.from({ length: SLOW_PAGES }, (_, number) => `${site}/slow?ms=1500&n=${number}`);
  const troubles = [1, 2, 3].flatMap((n) => [
    `${site}/status/404?n=${n}`,
    `${site}/status/500?n=${n}`,
    `${site}/ban?after=0&by=ip&for=1&n=${n}`,
    `${site}/throttle?after=0&retry=1&n=${n}`,
  ]);
  const file = join(trawl.home, '../urls.txt');
  writeFileSync(file, [...pages, ...troubles, ...slow].join('\n'));
  await trawl.json('submit', 'page', '--file', file, '--run', 'friday');
  await trawl.json('submit', 'page', '--file', file, '--run', 'friday');
  await trawl.json('submit', 'page', `${site}/hang`, '--run', 'forlorn');
  await trawl.json('cancel', 'forlorn');
  await trawl.json('scale', 'worker=7');
}

let more = 0;

/** A little more of what comes and what fails, on a site that has not turned us away. */
export async function workOn(trawl: Program, site: string): Promise<void> {
  more += 1;
  await trawl.json(
    ...['submit', 'page', '--run', 'more', `${site}/product/${more}`, `${site}/status/404?more=${more}`],
  );
}

/** What a program prints up to a line. */
export async function firstLines(
  { stdout }: ChildProcess,
  isLast: (line: string) => boolean,
): Promise<string> {
  if (!stdout) throw new Error('no pipe');
  let said = '';
  for await (const line of createInterface({ input: stdout })) {
    said += line;
    if (isLast(line)) break;
  }
  return said;
}
