/**
 * One million URLs: published, accepted in the ledger, put into the queue; then the same million again, which must
 * yield as many duplicates and no task. Prints rates, the coordinator's memory, and checks the counts.
 *
 *   node dist/test/bench/submit.js [--quick] [--count N] [--json FILE]
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createPublisher } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { projectRoot } from '../../src/project-root.ts';
import { createNames } from '../../src/wire/names.ts';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, count: { type: 'string' }, json: { type: 'string' } },
});
const total = Number(flags.count ?? (flags.quick ? 20_000 : 1_000_000));
const CHUNK = 1_000;
const RUN = 'bench';

const undos: (() => unknown)[] = [];
const lifetime = { teardown: (undo: () => unknown) => void undos.unshift(undo) };
try {
  await measure();
} finally {
  for (const undo of undos) await undo();
}

async function measure(): Promise<void> {
  const server = await startNatsServer(lifetime);
  const connection = await server.connect();
  const names = createNames('trawl');
  await applyTopology(connection, planCluster(loadConfig({ flags: {}, env: {}, cwd: '/' }).config), {
    onDrift: 'update',
  });

  const home = temporaryFolder(lifetime);
  const child = spawn(
    process.execPath,
    [`${projectRoot}/dist/src/cli/main.js`, 'coordinator', '--id', 'bench'],
    {
      env: { PATH: process.env['PATH'], NATS_URL: server.url, TRAWL_HOME: home, TRAWL_LOG_LEVEL: 'warn' },
      cwd: home,
      stdio: 'inherit',
    },
  );
  lifetime.teardown(() => child.kill('SIGTERM'));
  const services = createServices(connection, names);
  await untilTrue(async () =>
    services.call('run.create', { scraper: 'noop', run: RUN }).then(
      () => true,
      () => false,
    ),
  );

  const reader = createLedgerReader(connection, names);
  const rows: object[] = [];
  for (const pass of ['first', 'again'] as const) {
    let rssMaxMb = 0;
    const watching = setInterval(() => {
      rssMaxMb = Math.max(rssMaxMb, rssMbOf(child.pid ?? 0));
    }, 200);
    const began = performance.now();
    const publisher = await createPublisher(connection, {
      stream: names.stream('INTAKE'),
      durability: 'interval',
      window: 64,
    });
    await publishAll(publisher, chunks(names.submit('noop', RUN)), (message, outcome) => {
      if (outcome.kind !== 'stored') throw new Error(`${message.subject}: ${outcome.reason}`);
    });
    await publisher.close();
    const publishedMs = performance.now() - began;
    const want =
      pass === 'first'
        ? (c: { accepted: number }) => c.accepted
        : (c: { duplicates: number }) => c.duplicates;
    await untilTrue(async () => want(await reader.counts(RUN)) >= total);
    await untilTrue(
      async () => (await connection.jsm.streams.info(names.stream('INTAKE'))).state.messages === 0,
    );
    const tookMs = performance.now() - began;
    clearInterval(watching);
    const { accepted, duplicates } = await reader.counts(RUN);
    const queued = (await connection.jsm.streams.info(names.stream('TASKS'))).state.messages;
    const row = {
      pass,
      total,
      accepted,
      duplicates,
      queued,
      publishedMs,
      tookMs,
      perSecond: (total / tookMs) * 1_000,
      rssMaxMb,
      serverRssMb: rssMbOf(server.pid()),
    };
    rows.push(row);
    process.stdout.write(
      `${pass.padEnd(6)} ${total} URLs in ${(tookMs / 1_000).toFixed(1)} s (${Math.round(row.perSecond)}/s; published in ${(publishedMs / 1_000).toFixed(1)} s), ` +
        `${accepted} accepted, ${duplicates} duplicates, ${queued} in the queue, coordinator at most ${rssMaxMb} MB, server ${row.serverRssMb} MB\n`,
    );
    if (accepted !== total || queued !== total || duplicates !== (pass === 'first' ? 0 : total))
      throw new Error('the counts are wrong');
  }
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(rows, undefined, 2)}\n`);
}

function* chunks(subject: string): Generator<{ subject: string; payload: Uint8Array; repeatable: true }> {
  for (let from = 0; from < total; from += CHUNK) {
    const lines = Array.from(
      { length: Math.min(CHUNK, total - from) },
      (_, index) => `https://shop.example/item/${from + index}`,
    );
    yield { subject, payload: Buffer.from(lines.join('\n')), repeatable: true };
  }
}

async function untilTrue(look: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 300_000;
  while (!(await look())) {
    if (Date.now() > until) throw new Error('it takes too long');
    await delay(50);
  }
}

function rssMbOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1_024);
}
