/**
 * How long a task waits: from just before its submission to the start of its handler. On an idle system, and as the
 * most urgent one behind a hundred thousand of the least urgent, of which three take 20 ms each at any time.
 *
 *   node dist/test/bench/priority.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Teardown } from '../kit/nats-server.ts';
import { createTaskId } from '../../src/domain/task-id.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { names } from './harness/ledger-check.ts';
import { startRivals, type QueueTeam } from './harness/queue-peers.ts';
import { openBench, target } from './harness/report.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { startTrawl, SYNCS, type SyncName, type TrawlTeam } from './harness/trawl-team.ts';
import { percentile, waitsTable, WAIT_HEADINGS, type Waits } from './harness/waits.ts';
import { untilTrue, withTeardown } from './stage.ts';

const bench = openBench('priority');
const SLOTS = 3;
const SLOW_MS = 20;
const CROWD = bench.size(100_000, 500);
const PROBES = { idle: bench.size(40, 5), urgent: bench.size(20, 5) } as const;
type Work = keyof typeof PROBES;

interface Contestant {
  readonly name: string;
  readonly safe: string;
  /** Many of the least urgent, before anybody works. */
  readonly fill: (count: number) => Promise<void>;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
  /** One of the most urgent: how long it waited. */
  readonly probe: (id: string) => Promise<number>;
  /** How many of the crowd are left. */
  readonly waiting: () => Promise<number>;
}

await withTeardown(async (t) => {
  const teams = { second: await start(t, 'second'), always: await start(t, 'always') };
  const rivals = await startRivals(t, ['bullmq', 'graphile-worker'], { concurrency: SLOTS });
  const contestants = [
    own('trawl, 1 s', teams.second, 'second'),
    own('trawl, always', teams.always, 'always'),
    ...rivals.teams.map(rival),
  ];
  const rows: Waits[] = await probeAll(contestants, 'idle');
  for (const contestant of contestants) {
    bench.say(`  ${CROWD} tasks for ${contestant.name}`);
    await contestant.fill(CROWD);
  }
  rows.push(...(await probeAll(contestants, 'urgent')));
  const left = await Promise.all(contestants.map(({ waiting }) => waiting()));
  const crowded = contestants.map(
    ({ name }, index) => `${left[index] ?? 0} of ${name}'s ${CROWD} still waited`,
  );
  const best = (work: Work, share: number): number => {
    const of = (name: string): number => percentile(rows, { work, name, share });
    return Math.min(...rivals.teams.map(({ name }) => of(name))) / of('trawl, 1 s');
  };
  bench.finish({
    tables: [
      { title: 'idle', head: WAIT_HEADINGS, rows: waitsTable(rows, 'idle', contestants) },
      {
        title: `most urgent, behind ${CROWD}`,
        head: WAIT_HEADINGS,
        rows: waitsTable(rows, 'urgent', contestants),
      },
    ],
    targets: (['idle', 'urgent'] as const).flatMap((work) =>
      ([0.5, 0.99] as const).map((share) =>
        target(`${work}, p${share * 100}: best of the others ÷ ours`, best(work, share), { min: 1 }),
      ),
    ),
    absent: rivals.absent,
    checks: [
      `after the last round ${crowded.join(', ')}`,
      ...(await Promise.all(
        (['second', 'always'] as const).map((name) => checkShipped(teams[name].stage, ['durability'])),
      )),
    ],
    versions: { ...natsVersion(teams.second.stage), ...rivals.versions },
    settings: {
      all: `${SLOTS} slots, one task after the other, ${PROBES.idle} idle and ${PROBES.urgent} urgent ones in each round`,
      bullmq: 'crowd of priority 10, urgent ones of priority 1',
      'graphile-worker':
        'crowd of priority 10, urgent ones of priority 0; no local queue, which would make them wait',
    },
    rows,
  });
});

async function probeAll(contestants: readonly Contestant[], work: Work): Promise<Waits[]> {
  const rows: Waits[] = [];
  for (let round = 1 - bench.warm; round <= bench.rounds; round += 1)
    for (const contestant of contestants) {
      await contestant.begin();
      const waitsMs: number[] = [];
      for (let n = 0; n < PROBES[work]; n += 1) waitsMs.push(await contestant.probe(`${work}-${round}-${n}`));
      await contestant.end();
      bench.say(`  round ${round}, ${work}, ${contestant.name}`);
      // The first round warms up.
      if (round > 0) rows.push({ work, name: contestant.name, round, waitsMs });
    }
  return rows;
}

function start(t: Teardown, name: SyncName): Promise<TrawlTeam> {
  return startTrawl(t, name, {
    prepare({ home }) {
      writeFileSync(
        join(home, 'slow.mjs'),
        `export const scraper = { name: 'slow', run: () => new Promise((r) => setTimeout(r, ${SLOW_MS})) };`,
      );
      writeFileSync(
        join(home, 'probe.mjs'),
        `export const scraper = { name: 'probe', run: async () => performance.timeOrigin + performance.now() };`,
      );
    },
  });
}

function own(name: string, { stage, user, tellWorker }: TrawlTeam, sync: SyncName): Contestant {
  const { connection } = stage;
  const reader = createLedgerReader(connection, names);
  const waiting = async (): Promise<number> =>
    (await connection.jsm.consumers.info(names.stream('TASKS'), 'p0')).num_pending;
  return {
    name,
    safe: SYNCS[sync].safe,
    waiting,
    async fill(count) {
      await user.call('produce', { scraper: 'slow', run: 'crowd', count, priority: 0 });
      await untilTrue(async () => (await waiting()) === count);
    },
    begin: () => tellWorker('resume'),
    end: () => tellWorker('pause'),
    async probe(key) {
      const sentAt = await user.call<number>('submit', { scraper: 'probe', key, priority: 9 });
      const id = createTaskId({ scraper: 'probe', key });
      let startedAt = 0;
      await untilTrue(async () => {
        const record = (await reader.read('default-probe', id))?.record;
        if (record?.state === 'done') startedAt = record.result.data as number;
        return startedAt > 0;
      }, 2);
      return startedAt - sentAt;
    },
  };
}

function rival({ name, safe, producer, worker }: QueueTeam): Contestant {
  const queue = 'latency';
  return {
    name,
    safe,
    waiting: async () => (await worker.call<{ open: number }>('check', { queue, count: 0 })).open,
    fill: (count) => producer.call('produce', { queue, count, priority: 10 }),
    begin: () => worker.call('start', { queue, count: Infinity, slowMs: SLOW_MS }),
    end: () => worker.call('stop'),
    async probe(id) {
      const startedAt = worker.call<number>('startedAt', { id });
      const priority = name === 'bullmq' ? 1 : 0;
      const sentAt = await producer.call<number>('probe', { queue, id, priority });
      return (await startedAt) - sentAt;
    },
  };
}
