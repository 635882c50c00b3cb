/**
 * The link between a worker and NATS is cut for longer than a lease, and healed: its tasks are done elsewhere, and when
 * it is back it disturbs nobody and works again.
 */
import t from 'tap';
import { firstBeat } from '../../src/cluster/first-beat.ts';
import { claimIdentity } from '../../src/nats/beats.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { until } from '../kit/coordinators.ts';
import { quietLog, startNatsServer, type Teardown } from '../kit/nats-server.ts';
import { createPromise } from '../kit/promise.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';
import { startTcpProxy, type TcpProxy } from '../kit/tcp-proxy.ts';

const leaseMs = 1_000;
const TASKS = 10;
const server = await startNatsServer(t);
const world = await createTaskWorld(t, server, { leaseMs });

interface Partition {
  readonly name: string;
  readonly begin: (proxy: TcpProxy) => void;
  /** Whether the handlers of the worker that is cut off end before the link is healed. */
  readonly endsDuring: boolean;
}

const PARTITIONS: readonly Partition[] = [
  {
    name: 'nothing arrives any more, and nobody says so',
    begin(proxy) {
      proxy.muteServer();
      void proxy.muteClient();
    },
    endsDuring: false,
  },
  { name: 'the connection is refused', begin: (proxy) => proxy.refuse(), endsDuring: true },
];

for (const [number, { name, begin, endsDuring }] of PARTITIONS.entries()) {
  t.test(name, async (t) => {
    const run = `partition-${number}`;
    const settled = await world.follow(run);
    const proxy = await startTcpProxy(t, server.port);
    const link = await openLink(t, proxy);
    const go = createPromise();
    let begun = 0;
    const events: string[] = [];
    startWorker(t, {
      connection: link,
      limits: { worker: 'cut-off', leaseMs },
      lastBeatAt: await startBeats(t, link, `cut-off-${number}`),
      log: createLog({
        level: 'debug',
        format: 'json',
        write: (line) => void events.push((JSON.parse(line) as { event: string }).event),
      }),
      scrapers: [
        {
          name: 'page',
          async run() {
            begun += 1;
            await go.promise;
          },
        },
      ],
    });
    await world.put(Array.from({ length: TASKS }, (_, n) => ({ run, scraper: 'page', key: `k${n}` })));
    await until(async () => begun === TASKS);

    begin(proxy);
    if (endsDuring) go.resolve();
    const heir = startWorker(t, {
      connection: world.connection,
      limits: { worker: 'heir', leaseMs },
      scrapers: [{ name: 'page', run: async () => undefined }],
    });
    const outcomes = await settled.until(TASKS);
    t.ok([...outcomes.values()].every((outcome) => outcome.state === 'done' && outcome.worker === 'heir'));

    const words = hearFirstHolder(t);
    proxy.cut();
    go.resolve();
    await until(async () => events.filter((event) => event === 'task.refused').length === TASKS, 20_000);
    heir.quiet();
    await heir.ended;
    await world.put([{ run, scraper: 'page', key: 'after' }]);
    t.match(
      (await settled.until(TASKS + 1)).get('after'),
      { state: 'done', worker: 'cut-off' },
      'it works again',
    );
    t.ok(
      [...settled.outcomes.values()].every((each) => each.length === 1),
      'one outcome each',
    );
    t.match(await world.reader.counts(run), { accepted: TASKS + 1, done: TASKS + 1, dead: 0 });
    t.same(
      words.filter((word) => word !== '' && word !== '+ACK'),
      [],
      'nothing but what is stored was said about tasks that others had',
    );
  });
}

async function openLink(t: Teardown, proxy: TcpProxy): Promise<Connection> {
  const link = await connectNats({
    access: { url: [proxy.url] },
    name: 'cut-off',
    log: quietLog,
    whenUnreachable: 'wait',
  });
  t.teardown(() => link.close());
  return link;
}

/** Heartbeats over the same link, as every actor has them. */
async function startBeats(t: Teardown, link: Connection, id: string): Promise<() => number> {
  const identity = await claimIdentity(openBucket(link, world.names.bucket('cluster')), {
    beat: firstBeat({ role: 'worker', id, version: '0' }),
    isRunning: () => false,
    deadAfterMs: 60_000,
    log: quietLog,
  });
  identity.start(200);
  t.teardown(() => identity.end());
  return () => identity.storedAt();
}

/** What is said from now on about deliveries that were the first of their task. */
function hearFirstHolder(t: Teardown): string[] {
  const words: string[] = [];
  const heard = world.connection.nc.subscribe('$JS.ACK.TASKS.*.1.>', {
    callback: (_error, message) => void words.push(message.string().slice(0, 4)),
  });
  t.teardown(() => heard.unsubscribe());
  return words;
}
