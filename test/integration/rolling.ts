/** Parts of a cluster come and go under load: submits go on, and nothing that was taken in is lost. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure } from '../../src/domain/failure.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { readHolder } from '../../src/nats/lock.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

const BATCHES = 60;
const PER_BATCH = 10;
const ALL = BATCHES * PER_BATCH;
const TRIES = 60;
const PASSING = new Set(['UNAVAILABLE', 'TIMEOUT']);

t.test(
  'the leader is killed, and every worker is replaced, while tasks come in',
  { timeout: 120_000 },
  async (t) => {
    const cluster = await startSmallCluster(t);
    const { server, connection, names, bucket, call } = cluster;
    const reader = createLedgerReader(connection, names);
    // What a killed coordinator had in hand is somebody else's after this time; 20 s as it is defined.
    await connection.jsm.consumers.update('INTAKE', 'coordinator', { ack_wait: 4_000_000_000 });
    const trawl = await installTrawl(t, { NATS_URL: server.url, TRAWL_LEADER_TTL: '2s' });
    const coordinators = new Map(
      ['c1', 'c2'].map((id) => [id, trawl.start('coordinator', '--id', id)] as const),
    );
    await untilSo(
      () => call<{ actors?: unknown }>('run.list', {}).catch(() => undefined),
      (answer) => answer !== undefined,
      60_000,
    );
    const running = new Map(
      await Promise.all(
        ['w1', 'w2', 'w3'].map(async (id) => [id, await cluster.start('worker', id)] as const),
      ),
    );
    let submitted = 0;
    let retried = 0;
    let refused = 0;

    const loading = (async () => {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const tasks = Array.from({ length: PER_BATCH }, (_, n) => ({ key: `k${batch}-${n}`, input: {} }));
        await submit(tasks);
        submitted += 1;
      }
    })();
    await untilSo(
      async () => submitted,
      (count) => count >= BATCHES / 4,
      60_000,
    );
    const { owner } = await untilSo(
      async () => (await readHolder(bucket, 'coordinator')) ?? { owner: '' },
      (holder) => coordinators.has(holder.owner),
    );
    coordinators.get(owner)?.kill('SIGKILL');
    const atKill = submitted;

    // One worker after the other, each replaced before the next goes.
    for (const [id, worker] of running) {
      worker.quiet();
      await worker.done;
      await cluster.start('worker', `${id}-next`);
    }
    await loading;
    t.ok(atKill < BATCHES, `killed after ${atKill} of ${BATCHES}`);
    t.equal(refused, 0, 'no submit failed in the end');
    t.comment(`${retried} submits were tried again`);
    const counts = await untilSo(
      () => reader.counts('rolling'),
      ({ done, dead }) => done + dead >= ALL,
      60_000,
    );
    t.match(counts, { accepted: ALL, done: ALL, dead: 0, cancelled: 0 });
    const left = async (): Promise<number> => (await connection.jsm.streams.info('TASKS')).state.messages;
    t.equal(await untilSo(left, (messages) => messages === 0), 0, 'nothing is left behind');
    const heir = await untilSo(
      async () => (await readHolder(bucket, 'coordinator'))?.owner,
      (holder) => holder !== undefined && holder !== owner,
    );
    t.ok(heir !== undefined && coordinators.has(heir), `${heir} leads now`);

    /** Whoever has no answer asks again: each task has a key, so that twice is once. */
    async function submit(tasks: readonly object[]): Promise<void> {
      for (let left = TRIES; ; left -= 1) {
        try {
          const answer = (await cluster.services.call(
            'submit',
            { scraper: 'gate', run: 'rolling', tasks },
            { timeoutMs: 2_000 },
          )) as { problems: unknown[] };
          refused += answer.problems.length;
          return;
        } catch (error) {
          if (!PASSING.has(asFailure(error).code) || left === 0) throw error;
          retried += 1;
          await delay(50);
        }
      }
    }
  },
);
