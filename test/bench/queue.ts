/**
 * Tasks that do nothing: what the queue itself costs. End to end: from the first submission until the outcome of the
 * last task is stored. Processing only: everything is in the queue before the first is taken, and the clock runs from
 * the first to the last.
 *
 *   node dist/test/bench/queue.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import type { Teardown } from '../kit/nats-server.ts';
import { startBareLoop } from './harness/bare-loop.ts';
import { names, untilDone, untilQueueEmpty } from './harness/ledger-check.ts';
import { checkRival, startRivals, type QueueTeam } from './harness/queue-peers.ts';
import { openBench, target } from './harness/report.ts';
import {
  HEADINGS,
  measureTeam,
  medianOf,
  perSecond,
  ratioOf,
  runRounds,
  tableOf,
  type Contestant,
  type Sample,
} from './harness/rounds.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { startTrawl, SYNCS, type SyncName, type TrawlTeam } from './harness/trawl-team.ts';
import { untilTrue, withTeardown } from './stage.ts';

const bench = openBench('queue');
/** So many that each takes a few seconds; the rate decides, not the number. */
const COUNTS: Readonly<Record<string, number>> = {
  ours: bench.size(40_000, 500),
  bare: bench.size(60_000, 500),
  bullmq: bench.size(12_000, 200),
  'graphile-worker': bench.size(30_000, 200),
  'pg-boss': bench.size(15_000, 200),
  'bee-queue': bench.size(25_000, 200),
};
const countOf = (name: string): number => COUNTS[name] ?? 0;
const NAMES = { second: 'trawl, 1 s', always: 'trawl, always' } as const;
const BARE = 'bare nats.js loop';

await withTeardown(async (t) => {
  const ours = {
    second: await startTrawl(t, 'second'),
    always: await startTrawl(t, 'always'),
  };
  const rivals = await startRivals(t, ['bullmq', 'graphile-worker', 'pg-boss', 'bee-queue']);
  const whole = [...own(ours, endToEnd), ...rivals.teams.map((team) => rival(team, rivalEndToEnd))];
  const only = [
    ...own(ours, processing),
    await bareContestant(t),
    ...rivals.teams.map((team) => rival(team, rivalProcessing)),
  ];
  bench.say('end to end');
  const wholeRows = await runRounds(whole, bench);
  bench.say('processing only');
  const onlyRows = await runRounds(only, bench);
  const checks: string[] = [];
  for (const name of ['second', 'always'] as const)
    checks.push(`${NAMES[name]}: ${await checkShipped(ours[name].stage, ['durability'])}`);
  checks.push('every task has exactly one outcome, after every round, by the counters of the ledger');
  bench.finish({
    tables: [
      { title: 'no-op tasks, end to end', head: HEADINGS, rows: tableOf(wholeRows, whole) },
      { title: 'no-op tasks, processing only', head: HEADINGS, rows: tableOf(onlyRows, only) },
    ],
    targets: [
      target('end to end, × bullmq', ratioOf(wholeRows, NAMES.second, 'bullmq'), { min: 4 }),
      target('end to end, × graphile-worker', ratioOf(wholeRows, NAMES.second, 'graphile-worker'), {
        min: 1.2,
      }),
      target(
        'end to end with always, × graphile-worker',
        ratioOf(wholeRows, NAMES.always, 'graphile-worker'),
        {
          min: 1.2,
        },
      ),
      target('processing, per second', medianOf(onlyRows, NAMES.second, perSecond), { min: 30_000 }),
      target('processing, share of the bare loop', ratioOf(onlyRows, NAMES.second, BARE), { min: 0.8 }),
    ],
    absent: rivals.absent,
    checks,
    versions: { ...natsVersion(ours.second.stage), ...rivals.versions },
    settings: {
      trawl:
        'one coordinator, one worker with the default 3 slots, one client; shipped settings but for durability',
      bullmq: 'addBulk of 1,000, 4 at a time; one worker process, 100 slots; completed jobs kept',
      'graphile-worker':
        'addJobs of 1,000, 2 at a time; 24 slots, local queue of 500, completion in batches; keeps no result, knows no duplicates',
      'pg-boss': 'insert of 1,000, 2 at a time; fetch and complete of 500, 4 at a time',
      'bee-queue': 'saveAll of 1,000, 4 at a time; 100 slots; succeeded jobs kept',
      'processes of each':
        'one that submits, one that works, and their server; trawl has a coordinator besides',
    },
    rows: [
      ...wholeRows.map((row) => ({ work: 'end to end', ...row })),
      ...onlyRows.map((row) => ({ work: 'processing', ...row })),
    ],
  });
});

type Work = (team: TrawlTeam, run: string) => Promise<Sample>;

function own(teams: Readonly<Record<SyncName, TrawlTeam>>, work: Work): Contestant[] {
  return (['second', 'always'] as const).map((name) => ({
    name: NAMES[name],
    durability: SYNCS[name].safe,
    run: (round) => work(teams[name], `${work.name}-${round}`),
  }));
}

async function endToEnd(team: TrawlTeam, run: string): Promise<Sample> {
  const count = countOf('ours');
  const sample = await measureTeam(team, async () => {
    await Promise.all([
      team.user.call('produce', { scraper: 'noop', run, count }),
      untilDone(team.stage, run, count),
    ]);
    return { count };
  });
  await untilQueueEmpty(team.stage);
  return sample;
}

async function processing(team: TrawlTeam, run: string): Promise<Sample> {
  const { stage, user } = team;
  const count = countOf('ours');
  await team.tellWorker('pause');
  await user.call('produce', { scraper: 'noop', run, count });
  await untilTrue(
    async () => (await stage.connection.jsm.streams.info(names.stream('TASKS'))).state.messages === count,
  );
  const sample = await measureTeam(team, async () => {
    await team.tellWorker('resume');
    const { firstMs, lastMs } = await untilDone(stage, run, count);
    return { count, ms: lastMs - firstMs };
  });
  await untilQueueEmpty(stage);
  return sample;
}

function rival(team: QueueTeam, work: (team: QueueTeam, queue: string) => Promise<Sample>): Contestant {
  return {
    name: team.name,
    durability: team.safe,
    async run(round) {
      const queue = `${work.name}_${round}`.toLowerCase();
      const sample = await work(team, queue);
      await checkRival(team, queue, sample.count);
      await team.producer.call('clear', { queue });
      return sample;
    },
  };
}

async function rivalEndToEnd(team: QueueTeam, queue: string): Promise<Sample> {
  const count = countOf(team.name);
  await team.worker.call('start', { queue, count });
  const began = performance.timeOrigin + performance.now();
  return measureTeam(team, async () => {
    await team.producer.call('produce', { queue, count });
    const { lastAt } = await team.worker.call<{ lastAt: number }>('finish');
    return { count, ms: lastAt - began };
  });
}

async function rivalProcessing(team: QueueTeam, queue: string): Promise<Sample> {
  const count = countOf(team.name);
  await team.producer.call('produce', { queue, count });
  return measureTeam(team, async () => {
    await team.worker.call('start', { queue, count });
    const { firstAt, lastAt } = await team.worker.call<{ firstAt: number; lastAt: number }>('finish');
    return { count, ms: lastAt - firstAt };
  });
}

async function bareContestant(t: Teardown): Promise<Contestant> {
  const loop = await startBareLoop(t);
  return { name: BARE, durability: SYNCS.second.safe, run: () => loop.run(countOf('bare')) };
}
