/** The path of a task on three servers that replicate everything, of which one is lost on the way. */
import t from 'tap';
import type { Connection } from '../../src/nats/connect.ts';
import { dumpLedger, keepAllVersions } from '../kit/chaos/ledger-dump.ts';
import { names, openField, until } from '../kit/coordinators.ts';
import { startNatsCluster } from '../kit/nats-cluster.ts';
import { startWorker } from '../kit/task-worker.ts';

const CHUNKS = 12;
const CHUNK = 50;
const AGAIN = 10;
const leaseMs = 3_000;

t.test('every task that was submitted ends in exactly one outcome', async (t) => {
  const cluster = await startNatsCluster(t);
  const field = await openField(t, cluster, { leaseMs, replicas: 3 });
  const { connection } = field;
  await keepAllVersions(connection, names);
  await field.start();
  for (const worker of ['w1', 'w2'])
    startWorker(t, {
      connection: await cluster.connect(),
      limits: { worker, leaseMs },
      scrapers: [{ name: 'shop', run: () => new Promise((resolve) => setTimeout(resolve, 20)) }],
    });

  let killed: Promise<void> | undefined;
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    // Each has some of what the one before had.
    const first = chunk * (CHUNK - AGAIN);
    await submit(connection, first);
    if (chunk === CHUNKS / 3) killed = loseLeader(connection);
  }
  await killed;
  const total = CHUNKS * (CHUNK - AGAIN) + AGAIN;
  await untilSo(async () => (await field.reader.counts('default-shop')).done === total);
  await untilSo(async () => (await field.messages('INTAKE')) + (await field.messages('TASKS')) === 0);

  const counts = await field.reader.counts('default-shop');
  t.match(counts, { accepted: total, done: total, dead: 0, cancelled: 0 });
  t.ok(counts.duplicates >= (CHUNKS - 1) * AGAIN, 'more only where a submission was not answered');
  const states = new Map<string, string[]>();
  for (const entry of await dumpLedger(connection, names))
    if (entry.type === 'task') states.set(entry.task, [...(states.get(entry.task) ?? []), entry.state]);
  t.equal(states.size, total);
  t.same(
    [...states.values()].filter((each) => each.join() !== 'queued,done'),
    [],
    'accepted once, settled once',
  );

  async function loseLeader({ jsm }: Connection): Promise<void> {
    const { cluster: group } = await jsm.streams.info(names.stream('LEDGER'));
    await cluster.kill(group?.leader ?? '');
  }
});

async function submit({ js }: Connection, first: number): Promise<void> {
  const lines = Array.from({ length: CHUNK }, (_, n) => `https://shop.test/${first + n}`);
  await untilSo(async () => {
    await js.publish(names.submit('shop'), lines.join('\n'), { timeout: 1_000 });
    return true;
  });
}

/** While a leader is elected nobody answers. */
function untilSo(look: () => Promise<boolean>): Promise<void> {
  return until(() => look().catch(() => false), 40_000);
}
