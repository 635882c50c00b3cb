/**
 * How long a task waits: from its submission to the start of its handler, on an idle cluster, and with priority 9
 * behind a queue of priority 0. One coordinator and one worker with three slots, each a process of its own; default sync. The crowd's tasks take 20 ms.
 *
 *   node dist/test/bench/latency.js [--quick] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createTaskId } from '../../src/domain/task-id.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { encodeJson } from '../../src/wire/codec.ts';
import { createNames } from '../../src/wire/names.ts';
import { describeMachine } from './measure.ts';
import { withStage, type Stage } from './stage.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'string' } } });
const probes = flags.quick ? 10 : 200;
const crowd = flags.quick ? 2_000 : 100_000;
const CHUNK = 1_000;
const RUN = 'bench';
const names = createNames('trawl');

await withStage(measure);

async function measure({ connection, home, startActor }: Stage): Promise<void> {
  // The crowd is slow, so that it is there for as long as the measurement takes.
  writeFileSync(
    `${home}/slow.mjs`,
    `export const scraper = { name: 'slow', run: () => new Promise((r) => setTimeout(r, 20)) };`,
  );
  startActor('coordinator');
  startActor('worker');
  await probe(connection, { prefix: 'warm', count: 10, priority: 0 });
  const idle = await probe(connection, { prefix: 'idle', count: probes, priority: 0 });

  for (let from = 0; from < crowd; from += CHUNK) {
    const tasks = Array.from({ length: CHUNK }, (_, index) => ({ key: `crowd-${from + index}`, input: {} }));
    await connection.js.publish(names.submit('slow', RUN), encodeJson(tasks));
  }
  const waitingBefore = await untilCrowded(connection);
  const urgent = await probe(connection, { prefix: 'urgent', count: Math.min(probes, 50), priority: 9 });
  const { num_pending: waitingAfter } = await connection.jsm.consumers.info(names.stream('TASKS'), 'p0');

  const rows = {
    machine: describeMachine(),
    idle: summary(idle),
    urgent: { ...summary(urgent), waitingBefore, waitingAfter },
  };
  process.stdout.write(
    `idle, submit to start of the handler: p50 ${rows.idle.p50} ms, p99 ${rows.idle.p99} ms (${idle.length} tasks)\n` +
      `priority 9 behind priority 0 (${waitingBefore} waiting at first, ${waitingAfter} at the end): p50 ${rows.urgent.p50} ms, p99 ${rows.urgent.p99} ms (${urgent.length} tasks)\n`,
  );
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(rows, undefined, 2)}\n`);
}

/** A run of its own is taken in when it is its turn: half of the crowd must be there before anyone is urgent. */
async function untilCrowded(connection: Connection): Promise<number> {
  const until = Date.now() + 30_000;
  for (;;) {
    const { num_pending: waiting } = await connection.jsm.consumers.info(names.stream('TASKS'), 'p0');
    if (waiting >= crowd / 4 || Date.now() > until) return waiting;
    await delay(5);
  }
}

/** One task after the other: submitted without a run, so that it is taken in at once. */
async function probe(
  connection: Connection,
  what: { prefix: string; count: number; priority: number },
): Promise<number[]> {
  const reader = createLedgerReader(connection, names);
  const waits: number[] = [];
  for (let n = 0; n < what.count; n += 1) {
    const key = `${what.prefix}-${n}`;
    const id = createTaskId({ scraper: 'noop', key });
    const submittedAt = Date.now();
    await connection.js.publish(
      names.submit('noop'),
      encodeJson({ key, input: {}, priority: what.priority }),
    );
    const until = submittedAt + 60_000;
    for (;;) {
      const record = (await reader.read('default-noop', id))?.record;
      if (record?.state === 'done') {
        waits.push(record.startedAt - submittedAt);
        break;
      }
      if (Date.now() > until) throw new Error(`${key} was not done in a minute`);
      await delay(2);
    }
  }
  return waits;
}

function summary(waits: readonly number[]): { p50: number; p99: number } {
  const sorted = [...waits].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
