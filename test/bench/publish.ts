/**
 * How fast one process publishes to a stream: the client library's own publish against our publisher, with the
 * server's default sync and with a sync before every answer.
 *
 *   node dist/test/bench/publish.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../src/nats/connect.ts';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { projectRoot } from '../../src/project-root.ts';
import { openBench, target } from './harness/report.ts';
import { measure, median, type Sample } from './measure.ts';
import { withTeardown } from './stage.ts';

type Sync = 'interval' | 'always';

interface Method {
  readonly name: string;
  /** Messages in one round: enough for a good part of a second. */
  readonly count: Readonly<Record<Sync, number>>;
  readonly run: (bench: Bench, subjects: readonly string[]) => Promise<void>;
}

interface Bench {
  readonly connection: Connection;
  readonly sync: Sync;
}

interface Row extends Sample {
  readonly sync: Sync;
  readonly method: string;
  readonly round: number;
}

const STREAM = 'BENCH';
const ONE_BY_ONE = 'js.publish, one by one';
const OURS = 'publisher, plain';
const PAYLOAD = new Uint8Array(200).fill(0x61);
const CONCURRENCY = 500;
const HEADINGS = ['sync / method', 'per second', 'min', 'max', '× one by one', 'client µs', 'server µs'];

const METHODS: readonly Method[] = [
  { name: ONE_BY_ONE, count: { interval: 3_000, always: 1_000 }, run: oneByOne },
  { name: `js.publish, ${CONCURRENCY} at once`, count: { interval: 10_000, always: 2_000 }, run: manyAtOnce },
  {
    name: OURS,
    count: { interval: 60_000, always: 30_000 },
    run: (bench, subjects) => pipelined(bench, subjects, {}),
  },
  {
    name: 'publisher, compare-and-set',
    count: { interval: 60_000, always: 30_000 },
    run: (bench, subjects) => pipelined(bench, subjects, { expect: 0 }),
  },
];

const bench = openBench('publish');
const { rounds } = bench;
const share = bench.quick ? 0.02 : 1;
await withTeardown(async (t) => {
  const rows: Row[] = [];
  let natsServer = '';
  for (const sync of ['interval', 'always'] as const) {
    const server = await startNatsServer(t, { sync });
    const connection = await server.connect('bench');
    natsServer = connection.nc.info?.version ?? '';
    await addLedger(connection);
    rows.push(...(await runRounds({ connection, sync }, server.pid())));
    await connection.close();
    await server.kill('SIGKILL');
  }
  bench.finish({
    tables: [{ title: `${PAYLOAD.length} bytes a message`, head: HEADINGS, rows: summarize(rows) }],
    targets: [
      target('publisher, messages a second', rateOf(rows, 'interval', OURS), { min: 60_000 }),
      target('publisher, messages a second, each synced', rateOf(rows, 'always', OURS), { min: 30_000 }),
    ],
    absent: [],
    checks: [],
    versions: { 'nats-server': natsServer },
    settings: {
      message: `${PAYLOAD.length} bytes, each to a subject of its own`,
      'client µs': 'CPU per message',
    },
    rows,
  });
});

/** Round by round all methods in turn, so that a slow minute of the machine hits them all. The first round warms up. */
async function runRounds(bench: Bench, serverPid: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, count, run } of METHODS) {
      const messages = Math.ceil(count[bench.sync] * share);
      const subjects = Array.from({ length: messages }, (_, i) => `bench.${round}.${i}`);
      await bench.connection.jsm.streams.purge(STREAM);
      const sample = await measure(serverPid, messages, () => run(bench, subjects));
      if (round > 0) rows.push({ sync: bench.sync, method: name, round, ...sample });
    }
  }
  return rows;
}

async function oneByOne({ connection }: Bench, subjects: readonly string[]): Promise<void> {
  for (const subject of subjects) await connection.js.publish(subject, PAYLOAD);
}

async function manyAtOnce({ connection }: Bench, subjects: readonly string[]): Promise<void> {
  const queue = subjects.values();
  const lane = async (): Promise<void> => {
    for (const subject of queue) await connection.js.publish(subject, PAYLOAD);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}

async function pipelined(
  bench: Bench,
  subjects: readonly string[],
  guard: { expect?: number },
): Promise<void> {
  const publisher = await createPublisher(bench.connection, { stream: STREAM, durability: bench.sync });
  const messages = function* (): Generator<Outgoing> {
    for (const subject of subjects) yield { subject, payload: PAYLOAD, ...guard };
  };
  await publishAll(publisher, messages(), ({ subject }, outcome) => {
    if (outcome.kind !== 'stored') throw new Error(`${subject}: ${JSON.stringify(outcome)}`);
  });
  await publisher.close();
}

/** The stream that most publishes go to, under another name. */
async function addLedger({ jsm }: Connection): Promise<void> {
  const text = readFileSync(join(projectRoot, 'nats/streams/LEDGER.json'), 'utf8');
  const definition = JSON.parse(text) as Parameters<typeof jsm.streams.add>[0];
  await jsm.streams.add({ ...definition, name: STREAM, subjects: ['bench.>'] });
}

function samplesOf(rows: readonly Row[], sync: Sync, method: string): Row[] {
  return rows.filter((row) => row.sync === sync && row.method === method);
}

function perSecond({ count, ms }: Sample): number {
  return (count / ms) * 1_000;
}

function rateOf(rows: readonly Row[], sync: Sync, method: string): number {
  return median(samplesOf(rows, sync, method).map(perSecond));
}

function summarize(rows: readonly Row[]): string[][] {
  return (['interval', 'always'] as const).flatMap((sync) => {
    const of = (method: string): Row[] => samplesOf(rows, sync, method);
    const base = rateOf(rows, sync, ONE_BY_ONE);
    return METHODS.map(({ name }) => {
      const rates = of(name).map(perSecond);
      const client = median(of(name).map(({ clientCpuUs, count }) => clientCpuUs / count));
      const server = median(of(name).map(({ serverCpuUs, count }) => (serverCpuUs ?? NaN) / count));
      return [
        `${sync} / ${name}`,
        ...[median(rates), Math.min(...rates), Math.max(...rates)].map((rate) => Math.round(rate).toString()),
        (median(rates) / base).toFixed(1),
        client.toFixed(1),
        Number.isNaN(server) ? '-' : server.toFixed(1),
      ];
    });
  });
}
