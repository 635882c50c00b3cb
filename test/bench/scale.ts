/**
 * Growth: what a task costs when there is more of everything. A small and a large system stand side by side, and the
 * rounds take both in turn; told is the CPU time of all processes per task, or per question to the proxy-manager. And
 * how the rate of slow pages grows with the workers: scale-workers.ts.
 *
 *   node dist/test/bench/scale.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import type { Teardown } from '../kit/nats-server.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { addProxies, askMany, startManager } from './harness/grants.ts';
import { names, untilDone, untilQueueEmpty } from './harness/ledger-check.ts';
import { openBench, target, type Table } from './harness/report.ts';
import { measureTeam, medianOf, perSecond, runRounds, type Contestant, type Row } from './harness/rounds.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { startTrawl, type TrawlTeam } from './harness/trawl-team.ts';
import { measureCrowd } from './scale-workers.ts';
import { openStage, untilTrue, withTeardown } from './stage.ts';
import { median } from './measure.ts';

const bench = openBench('scale');
const SOME = bench.size(10_000, 3_000);
const MANY = bench.size(1_000_000, 6_000);
const TASKS = bench.size(20_000, 300);
const HOSTS = [10, bench.size(10_000, 100)] as const;
const PROXIES = [1, bench.size(10_000, 100)] as const;
const QUESTIONS = bench.size(2_000, 50);
const ASKERS = 8;

type Pair = readonly [Contestant, Contestant];

const all: Row[] = [];
const tables: string[][] = [];
const targets: ReturnType<typeof target>[] = [];
const checks: string[] = [];
let versions: Readonly<Record<string, string>> = {};

await grow('queued', (t) => Promise.all([queued(t, SOME), queued(t, MANY)]));
await grow('workers', (t) => Promise.all([workers(t, 1), workers(t, 4)]));
await grow('hosts', (t) => Promise.all(HOSTS.map((count) => asked(t, { hosts: count, proxies: 10 }))));
await grow('proxies', (t) => Promise.all(PROXIES.map((count) => asked(t, { hosts: 10, proxies: count }))));
bench.say('slow pages');
const crowd = await measureCrowd(bench);
const table: Table = {
  title: 'cost of one, small beside large',
  head: [
    'growth',
    'small',
    'large',
    'µs small',
    'µs large',
    'cost ×',
    'per second small',
    'per second large',
    'server MB',
  ],
  rows: tables,
};
bench.finish({
  tables: [table, ...crowd.tables],
  targets: [...targets, ...crowd.targets],
  absent: [],
  checks: [...checks, crowd.check],
  versions,
  settings: {
    cost: 'CPU time of clients, actors and server together, per task or per question; median of each round’s own ratio',
    queued: `one worker takes ${TASKS} no-op tasks off the queue while so many wait behind them`,
    workers: `${TASKS} no-op tasks end to end`,
    'hosts, proxies': `${QUESTIONS} questions for 50 requests each, ${ASKERS} askers, given back at once`,
    ...crowd.settings,
  },
  rows: [...all, ...crowd.rows],
});

async function grow(what: string, open: (t: Teardown) => Promise<readonly Contestant[]>): Promise<void> {
  await withTeardown(async (t) => {
    bench.say(what);
    const [small, large] = (await open(t)) as unknown as Pair;
    const rows = await runRounds([small, large], bench);
    all.push(...rows.map((row) => ({ growth: what, ...row })));
    const costUs = ({ clientCpuUs, serverCpuUs, count }: Row): number => (clientCpuUs + serverCpuUs) / count;
    const of = (name: string): Row[] => rows.filter(({ contestant }) => contestant === name);
    const ratio = median(of(small.name).map((row, n) => costUs(of(large.name)[n] ?? row) / costUs(row)));
    const show = ({ name }: Contestant, value: (row: Row) => number): string =>
      medianOf(rows, name, value).toFixed(1);
    tables.push([
      what,
      small.name,
      large.name,
      show(small, costUs),
      show(large, costUs),
      ratio.toFixed(2),
      show(small, perSecond),
      show(large, perSecond),
      show(large, ({ serverMb }) => serverMb),
    ]);
    targets.push(target(`${what}: cost, large ÷ small`, ratio, { max: 1.15 }));
  });
}

async function queued(t: Teardown, waiting: number): Promise<Contestant> {
  const team = await startTrawl(t, 'second');
  const { stage, user } = team;
  const reader = createLedgerReader(stage.connection, names);
  const done = async (run: string): Promise<number> => (await reader.counts(run)).done;
  const run = 'backlog';
  await team.tellWorker('pause');
  await note(team);
  const inQueue = async (): Promise<number> =>
    (await stage.connection.jsm.streams.info(names.stream('TASKS'))).state.messages;
  // A worker takes some more before it hears that it is to pause.
  const all = waiting + TASKS * (bench.rounds + 1);
  await user.call('produce', { scraper: 'noop', run, count: all });
  await untilTrue(async () => (await inQueue()) === all);
  return {
    name: `${waiting} queued`,
    async run() {
      const before = await done(run);
      const sample = await measureTeam(team, async () => {
        await team.tellWorker('resume');
        await untilTrue(async () => {
          const now = await done(run);
          return now - before >= TASKS || now === all;
        }, 10);
        await team.tellWorker('pause');
        // What it had in hand is settled or given back.
        let last = -1;
        await untilTrue(async () => {
          const now = await done(run);
          const isStill = now === last;
          last = now;
          return isStill;
        }, 100);
        return { count: last - before };
      });
      return sample;
    },
  };
}

async function workers(t: Teardown, count: number): Promise<Contestant> {
  const team = await startTrawl(t, 'second', { workers: count });
  const { stage, user } = team;
  await note(team);
  return {
    name: `${count} ${count === 1 ? 'worker' : 'workers'}`,
    async run(round) {
      const run = `tasks-${round + 1}`;
      const sample = await measureTeam(team, async () => {
        await Promise.all([
          user.call('produce', { scraper: 'noop', run, count: TASKS }),
          untilDone(stage, run, TASKS),
        ]);
        return { count: TASKS };
      });
      await untilQueueEmpty(stage);
      return sample;
    },
  };
}

async function asked(
  t: Teardown,
  { hosts, proxies }: { hosts: number; proxies: number },
): Promise<Contestant> {
  const stage = await openStage(t, { sync: 'always' });
  const services = await startManager(stage);
  await addProxies(services, proxies, 0);
  // Every host has been asked for before.
  await askMany(stage, { questions: hosts, hosts, askers: ASKERS });
  const team = { clients: () => stage.pids(), servers: () => [stage.server.pid()] };
  return {
    name: `${hosts} hosts, ${proxies} ${proxies === 1 ? 'proxy' : 'proxies'}`,
    run: () =>
      measureTeam(team, async () => {
        await askMany(stage, { questions: QUESTIONS, hosts, askers: ASKERS });
        return { count: QUESTIONS };
      }),
  };
}

async function note({ stage }: TrawlTeam): Promise<void> {
  versions = natsVersion(stage);
  checks.push(await checkShipped(stage, ['durability']));
}
