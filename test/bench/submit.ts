/**
 * One million URLs: published, accepted in the ledger, put into the queue; then the same million again, which must
 * yield as many duplicates and no task. Prints rates and the coordinator's memory over time,
 * and checks the counts.
 *
 *   node dist/test/bench/submit.js [--quick] [--count N] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { createNames } from '../../src/wire/names.ts';
import { rssMbOf, untilTrue, watchMemory, withStage, type MemoryCourse, type Stage } from './stage.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, count: { type: 'string' }, json: { type: 'string' } },
});
const total = Number(flags.count ?? (flags.quick ? 20_000 : 1_000_000));
const CHUNK = 1_000;
const RUN = 'bench';
const names = createNames('trawl');

type Pass = 'first' | 'again';

interface Row {
  readonly pass: Pass;
  readonly total: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly queued: number;
  readonly publishedMs: number;
  readonly tookMs: number;
  readonly coordinatorMb: MemoryCourse;
  readonly serverMb: number;
}

await withStage(async (stage) => {
  const coordinator = stage.startActor('coordinator');
  const services = createServices(stage.connection, names);
  await untilTrue(async () =>
    services.call('run.create', { scraper: 'noop', run: RUN }).then(
      () => true,
      () => false,
    ),
  );
  const rows: Row[] = [];
  for (const pass of ['first', 'again'] as const) {
    const row = await submitAll(stage, pass, coordinator.pid ?? 0);
    rows.push(row);
    process.stdout.write(describe(row));
    if (row.accepted !== total || row.queued !== total || row.duplicates !== (pass === 'first' ? 0 : total))
      throw new Error('the counts are wrong');
  }
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(rows, undefined, 2)}\n`);
});

async function submitAll({ connection, server }: Stage, pass: Pass, pid: number): Promise<Row> {
  const reader = createLedgerReader(connection, names);
  const sizeOf = async (stream: 'INTAKE' | 'TASKS'): Promise<number> =>
    (await connection.jsm.streams.info(names.stream(stream))).state.messages;
  const endWatch = watchMemory(pid);
  const began = performance.now();
  await publishChunks(connection);
  const publishedMs = performance.now() - began;
  const counted = pass === 'first' ? ('accepted' as const) : ('duplicates' as const);
  await untilTrue(async () => (await reader.counts(RUN))[counted] >= total);
  await untilTrue(async () => (await sizeOf('INTAKE')) === 0);
  const tookMs = performance.now() - began;
  const coordinatorMb = endWatch();
  const { accepted, duplicates } = await reader.counts(RUN);
  return {
    pass,
    total,
    accepted,
    duplicates,
    queued: await sizeOf('TASKS'),
    publishedMs,
    tookMs,
    coordinatorMb,
    serverMb: rssMbOf(server.pid()),
  };
}

async function publishChunks(connection: Stage['connection']): Promise<void> {
  const publisher = await createPublisher(connection, {
    stream: names.stream('INTAKE'),
    durability: 'interval',
    window: 64,
  });
  await publishAll(publisher, chunks(names.submit('noop', RUN)), (message, outcome) => {
    if (outcome.kind !== 'stored') throw new Error(`${message.subject}: ${outcome.reason}`);
  });
  await publisher.close();
}

function* chunks(subject: string): Generator<Outgoing> {
  for (let from = 0; from < total; from += CHUNK) {
    const lines = Array.from(
      { length: Math.min(CHUNK, total - from) },
      (_, index) => `https://shop.example/item/${from + index}`,
    );
    yield { subject, payload: Buffer.from(lines.join('\n')), repeatable: true };
  }
}

function describe({ pass, accepted, duplicates, queued, publishedMs, tookMs, ...memory }: Row): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  const { start, quarter, half, end, most } = memory.coordinatorMb;
  return (
    `${pass.padEnd(6)} ${total} URLs in ${seconds(tookMs)} s (${Math.round((total / tookMs) * 1_000)}/s; published in ${seconds(publishedMs)} s), ` +
    `${accepted} accepted, ${duplicates} duplicates, ${queued} in the queue\n` +
    `       coordinator: ${start} MB at the start, ${quarter} MB after a quarter of the time, ${half} MB after a half, ${end} MB at the end, at most ${most} MB; server ${memory.serverMb} MB\n`
  );
}
