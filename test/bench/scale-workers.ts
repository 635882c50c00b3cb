/**
 * Pages that take their time, by one worker with one slot and by fifty of them: what is lost when there are many. Real
 * workers, several in a process, with leave of the proxy-manager for each page; only the pages are quicker than those of
 * six seconds that it is about, so what is lost between two of them counts ten times as much.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Teardown } from '../kit/nats-server.ts';
import { createTaskId } from '../../src/domain/task-id.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { names, untilDone, untilQueueEmpty } from './harness/ledger-check.ts';
import { startPeer } from './harness/peer.ts';
import { productsTemplate } from './harness/products-template.ts';
import { target, type Bench, type Table, type Target } from './harness/report.ts';
import { measureTeam, type Sample } from './harness/rounds.ts';
import { checkShipped } from './harness/shipped.ts';
import { startTrawl, type TrawlTeam } from './harness/trawl-team.ts';
import { median } from './measure.ts';
import { withTeardown, type Stage } from './stage.ts';

const PER_PROCESS = 10;
/** Of how many each worker has its part: for one worker alone, and for one of many. */
const PAGES = [
  { afterMs: 600, alone: 6, each: 8 },
  { afterMs: 200, alone: 6, each: 8 },
  { afterMs: 60, alone: 12, each: 16 },
] as const;
const LEAST_EFFICIENCY = 0.95;
const SLOW_PER_MINUTE = 10;
const MANY_PAGES = 1_000_000;

interface CrowdRow extends Sample {
  readonly growth: 'slow pages';
  readonly round: number;
  readonly afterMs: number;
  readonly workers: number;
  /** Between the first outcomes of all and the last ones. */
  readonly perSecond: number;
}

export interface CrowdFindings {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  readonly settings: Readonly<Record<string, string>>;
  readonly check: string;
  readonly rows: readonly CrowdRow[];
}

interface Crowd {
  readonly team: TrawlTeam;
  readonly workers: number;
}

export async function measureCrowd(bench: Bench): Promise<CrowdFindings> {
  const many = bench.size(50, 4);
  const rows: CrowdRow[] = [];
  let check = '';
  await withTeardown(async (t) => {
    const site = await startPeer(t, join(import.meta.dirname, 'harness/site.js'), {});
    const { port } = await site.call<{ port: number }>('where');
    const crowds = [await openCrowd(t, port, 1), await openCrowd(t, port, many)];
    for (let round = 1 - bench.warm; round <= bench.rounds; round += 1)
      // The quick pages are enough to warm up.
      for (const pages of round > 0 ? PAGES : PAGES.slice(-1))
        for (const { team, workers } of round % 2 === 0 ? crowds : [...crowds].reverse()) {
          const perWorker = bench.size(workers === 1 ? pages.alone : pages.each, 4);
          const count = workers * perWorker;
          const run = `slow-${round + 1}-${pages.afterMs}`;
          const url = `http://127.0.0.1:${port}/product/*?after=${pages.afterMs}`;
          const sample = await measureTeam(team, async () => {
            const job = { scraper: 'products', run, count, pattern: url };
            await Promise.all([team.user.call('produce', job), untilDone(team.stage, run, count)]);
            return { count };
          });
          const urls = Array.from({ length: count }, (_, n) => url.replace('*', String(n)));
          const perSecond = await steadyRate(team.stage, { run, urls, workers });
          await untilQueueEmpty(team.stage);
          if (round < 1) continue;
          rows.push({ growth: 'slow pages', round, afterMs: pages.afterMs, workers, ...sample, perSecond });
          bench.say(`  round ${round}, pages of ${pages.afterMs} ms, ${workers}: ${perSecond.toFixed(2)}/s`);
        }
    for (const { team } of crowds)
      check = `slow pages: ${await checkShipped(team.stage, ['durability', 'worker.concurrency'])}`;
  });
  return { ...show(rows, many), check, rows };
}

async function openCrowd(t: Teardown, port: number, workers: number): Promise<Crowd> {
  const team = await startTrawl(t, 'second', {
    workers: 0,
    withManager: true,
    settings: { TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${port}`, TRAWL_WORKER_CONCURRENCY: '1' },
    prepare: ({ home }) => writeFileSync(join(home, 'products.yaml'), productsTemplate()),
  });
  const { stage } = team;
  const ids = Array.from({ length: workers }, (_, n) => `bench-worker-${n + 1}`);
  const pids: number[] = [];
  for (let from = 0; from < workers; from += PER_PROCESS) {
    const some = { ids: ids.slice(from, from + PER_PROCESS), env: stage.env, cwd: stage.home };
    pids.push((await startPeer(t, join(import.meta.dirname, 'harness/crowd.js'), some)).pid);
  }
  return { team: { ...team, clients: () => [...team.clients(), ...pids] }, workers };
}

/** Without the first and the last page of each worker: they begin one after the other, and end so. */
async function steadyRate(
  { connection }: Stage,
  { run, urls, workers }: { run: string; urls: readonly string[]; workers: number },
): Promise<number> {
  const ids = urls.map((url) => createTaskId({ scraper: 'products', url }));
  const found = await createLedgerReader(connection, names).readMany(run, ids);
  const settledAt = [...found.values()].map(({ record }) => record.at).sort((a, b) => a - b);
  const last = settledAt.length - workers;
  const ms = (settledAt[last - 1] ?? NaN) - (settledAt[workers - 1] ?? NaN);
  return ((last - workers) / ms) * 1_000;
}

function show(
  rows: readonly CrowdRow[],
  many: number,
): Pick<CrowdFindings, 'tables' | 'targets' | 'settings'> {
  const of = (afterMs: number, workers: number): CrowdRow[] =>
    rows.filter((row) => row.afterMs === afterMs && row.workers === workers);
  const efficiencyOf = (afterMs: number): number => {
    const alone = of(afterMs, 1);
    return median(
      of(afterMs, many).map(({ perSecond }, n) => perSecond / (many * (alone[n]?.perSecond ?? NaN))),
    );
  };
  const rate = (afterMs: number, workers: number): string =>
    median(of(afterMs, workers).map(({ perSecond }) => perSecond)).toFixed(2);
  const [{ afterMs: slowest }] = PAGES;
  const efficiency = efficiencyOf(slowest);
  const projected = [
    { workers: 1, perMinute: SLOW_PER_MINUTE },
    { workers: many, perMinute: many * SLOW_PER_MINUTE * efficiency },
  ];
  return {
    tables: [
      {
        title: `slow pages, 1 to ${many} workers of one slot`,
        head: [
          'a page takes',
          'per second, 1',
          `per second, ${many}`,
          `share of ${many} × 1, %`,
          'CPU ms per page',
        ],
        rows: PAGES.map(({ afterMs }) => [
          `${afterMs} ms`,
          rate(afterMs, 1),
          rate(afterMs, many),
          (efficiencyOf(afterMs) * 100).toFixed(1),
          median(
            of(afterMs, many).map(
              ({ clientCpuUs, serverCpuUs, count }) => (clientCpuUs + serverCpuUs) / count / 1_000,
            ),
          ).toFixed(2),
        ]),
      },
      {
        title: `a million pages of 6 s, 10 a minute and worker, reckoned with the share of pages of ${slowest} ms`,
        head: ['workers', 'pages a minute', 'hours', 'days'],
        rows: projected.map(({ workers, perMinute }) => {
          const hours = MANY_PAGES / perMinute / 60;
          return [String(workers), perMinute.toFixed(0), hours.toFixed(1), (hours / 24).toFixed(1)];
        }),
      },
    ],
    targets: [
      target(`slow pages: rate of ${many} workers ÷ (${many} × rate of 1)`, efficiency, {
        min: LEAST_EFFICIENCY,
      }),
    ],
    settings: {
      'slow pages': `a site on this machine that waits so long; ${PER_PROCESS} workers in a process, one slot each; CPU of all processes but the site`,
    },
  };
}
