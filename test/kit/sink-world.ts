/** A ledger with outcomes in it, and the built program that delivers them: sinks without workers. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { shortHash } from '../../src/domain/task-id.ts';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import { listSinks, type SinkView } from '../../src/nats/sinks.ts';
import { createNames, type Names } from '../../src/wire/names.ts';
import { QUICK_TTL } from './leader-ttl.ts';
import { quietLog, startNatsServer, type Teardown, type TestServer } from './nats-server.ts';
import { makeStreams } from './short-leases.ts';
import { untilSo } from './small-cluster.ts';
import { installTrawl, type Program } from './trawl.ts';
import { acceptOne } from './accept-one.ts';

export interface SinkWorld {
  readonly server: TestServer;
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly names: Names;
  readonly trawl: Program;
  /** Settles one task with these items; its id. */
  settle(run: string, key: string, items: readonly unknown[]): Promise<string>;
  /** Tasks `<run>-<n>` with two items each: `{ key, n, text }`. */
  settleMany(run: string, tasks: { from: number; to: number }): Promise<void>;
  /** Starts the sink as a process of its own. */
  start(...words: string[]): ChildProcess;
  /** Runs it until it has delivered what is there. */
  deliver(...words: string[]): Promise<void>;
  look(name: string): Promise<SinkView | undefined>;
  /** Looks again until it is so. */
  until(name: string, isSo: (sink: SinkView) => boolean): Promise<SinkView>;
}

export const ITEMS_PER_TASK = 2;

export async function startSinkWorld(t: Teardown): Promise<SinkWorld> {
  const server = await startNatsServer(t);
  const names = createNames('trawl');
  const connection = await server.connect('sink world');
  await makeStreams(connection);
  const bucket = openBucket(connection, names.bucket('cluster'));
  const writer = createLedgerWriter(connection, {
    names,
    durability: 'interval',
    batchMax: 500,
    ackTimeoutMs: 5_000,
    log: quietLog,
  });
  t.teardown(() => writer.close());
  const trawl = await installTrawl(t, {
    NATS_URL: server.url,
    TRAWL_LEADER_TTL: QUICK_TTL,
    SECRET: 'geheim',
  });
  const start = (...words: string[]): ChildProcess => {
    const child = trawl.start('sink', ...words, '--log-format', 'json');
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.once('exit', (code) => {
      if (code !== null && code !== 0) process.stderr.write(`sink ended with ${code}: ${said}\n`);
    });
    return child;
  };
  const look = async (name: string): Promise<SinkView | undefined> =>
    (await listSinks({ connection, bucket, names })).find((sink) => sink.name === name);

  return {
    server,
    connection,
    bucket,
    names,
    trawl,
    settle,
    async settleMany(run, { from, to }) {
      const work: Promise<string>[] = [];
      for (let n = from; n < to; n += 1) {
        const key = `${run}-${n}`;
        const items = Array.from({ length: ITEMS_PER_TASK }, (_, i) => ({
          key,
          n: i,
          text: `ü"${'x'.repeat(n % 300)},\n`,
        }));
        work.push(settle(run, key, items));
        if (work.length >= 500) await Promise.all(work.splice(0));
      }
      await Promise.all(work);
    },
    start,
    async deliver(...words) {
      const child = start(...words, '--until-empty');
      child.stdout?.resume();
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`the sink ended with ${code ?? 'a signal'}`);
    },
    look,
    async until(name, isSo) {
      const found = await untilSo(
        () => look(name),
        (sink) => sink !== undefined && isSo(sink),
        60_000,
      );
      return found as SinkView;
    },
  };

  async function settle(run: string, key: string, items: readonly unknown[]): Promise<string> {
    const at = Date.now();
    const url = `https://shop.example/${key}`;
    const spec = {
      id: shortHash(key),
      run,
      scraper: 'prices',
      key,
      url,
      priority: 5 as const,
      createdAt: at,
    };
    const accepted = await acceptOne(writer, { state: 'queued', spec, at, faults: [] });
    if (accepted.kind !== 'stored') throw new Error(`${key} was not accepted: ${accepted.kind}`);
    const result = { items, pages: 1, bytes: 100 };
    const settled = await writer.settle(
      { state: 'done', spec, at, faults: [], worker: 'w1', startedAt: at, result },
      accepted.seq,
    );
    if (settled.kind !== 'stored') throw new Error(`${key} was not settled: ${settled.kind}`);
    return spec.id;
  }
}

/** Kills it the hard way, and waits until it is gone. */
export async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
