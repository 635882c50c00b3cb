/**
 * One change of the ledger and its counter, and several: as messages one after the other, and as one atomic batch. All
 * ways in turn, on a stream with one replica; from it comes how many changes are stored by themselves.
 *
 *   node dist/test/bench/ledger.js [--quick] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createBatchSender, type BatchSender, type Member } from '../../src/nats/publisher/batch.ts';
import { EXPECT_HEADER } from '../../src/nats/publisher/entry.ts';
import { createNames } from '../../src/wire/names.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { makeStreams } from '../kit/short-leases.ts';
import { describeMachine, measure, median, type Sample } from './measure.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'string' } } });
const SIZES = [1, 5, 10, 50, 200];
const ROUNDS = flags.quick ? 2 : 100;
const WARM_UP = flags.quick ? 0 : 10;
const RECORD = Buffer.alloc(300, 'r');
const COUNTER = Buffer.alloc(150, 'c');
const names = createNames('trawl');

interface Row {
  readonly sync: string;
  readonly changes: number;
  readonly way: string;
  readonly tookMs: number; // median
  readonly serverCpuMs: number; // mean
}

let tasks = 0;
const undo: (() => unknown)[] = [];
const rows: Row[] = [];
try {
  for (const sync of ['interval', 'always'] as const) rows.push(...(await compare(sync)));
} finally {
  for (const step of undo.reverse()) await step();
}
process.stdout.write(`${rows.map(describe).join('\n')}\n`);
if (flags.json !== undefined)
  writeFileSync(flags.json, `${JSON.stringify({ machine: describeMachine(), rows }, undefined, 2)}\n`);

async function compare(sync: 'interval' | 'always'): Promise<Row[]> {
  const server = await startNatsServer({ teardown: (step) => void undo.push(step) }, { sync });
  const connection = await server.connect();
  await makeStreams(connection);
  const sender = createBatchSender({ connection, stream: names.stream('LEDGER'), ackTimeoutMs: 60_000 });
  const ways = { 'one by one': storeSingly, 'one batch': storeTogether };
  const cases = SIZES.flatMap((changes) =>
    Object.entries(ways).map(([way, store]) => ({ changes, way, store, samples: [] as Sample[] })),
  );
  for (let round = -WARM_UP; round < ROUNDS; round += 1)
    for (const { changes, store, samples } of cases) {
      const sample = await measure(server.pid(), changes, () => store(sender, changes));
      if (round >= 0) samples.push(sample);
    }
  sender.close();
  return cases.map(({ changes, way, samples }) => ({
    sync,
    changes,
    way,
    tookMs: round(median(samples.map(({ ms }) => ms))),
    serverCpuMs: round(samples.reduce((sum, { serverCpuUs = 0 }) => sum + serverCpuUs / 1_000, 0) / ROUNDS),
  }));
}

async function storeSingly(sender: BatchSender, changes: number): Promise<void> {
  check(await Promise.all(Array.from({ length: changes }, () => sender.send([newRecord()]))));
  check([await sender.send([newCounter()])]);
}

async function storeTogether(sender: BatchSender, changes: number): Promise<void> {
  check([await sender.send([...Array.from({ length: changes }, newRecord), newCounter()])]);
}

function newRecord(): Member {
  tasks += 1;
  const message = { subject: names.ledger('bench', `t${tasks}`), payload: RECORD };
  return { message, headerLines: `${EXPECT_HEADER}: 0\r\n` };
}

function newCounter(): Member {
  return { message: { subject: names.count('bench', 'w'), payload: COUNTER }, headerLines: '' };
}

function check(answers: readonly { readonly kind: string }[]): void {
  const wrong = answers.find(({ kind }) => kind !== 'stored' && kind !== 'committed');
  if (wrong) throw new Error(JSON.stringify(wrong));
}

function describe({ sync, changes, way, tookMs, serverCpuMs }: Row): string {
  return `${sync.padEnd(8)} ${String(changes).padStart(3)} changes, ${way.padEnd(10)} ${tookMs} ms, server CPU ${serverCpuMs} ms`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
