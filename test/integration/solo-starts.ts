/** A start alone counts against a task when its worker is gone, and not while it lives. */
import t from 'tap';
import type { TaskSpec } from '../../src/domain/task.ts';
import { createSoloStarts, type SoloStarts } from '../../src/nats/solo-starts.ts';
import { claim } from '../kit/actors.ts';
import { openClusterBucket } from '../kit/cluster-bucket.ts';
import { makeDelivery } from '../kit/deliveries.ts';
import { quietLog, startNatsServer, type Teardown } from '../kit/nats-server.ts';

const server = await startNatsServer(t);
const { bucket } = await openClusterBucket(server);

interface Worker {
  readonly starts: SoloStarts;
  end(): Promise<void>;
}

async function startWorker(t: Teardown, id: string, startedAt = Date.now()): Promise<Worker> {
  const identity = await claim(t, bucket, { id, startedAt, status: 'running' }, { isRunning: () => false });
  return {
    starts: createSoloStarts(bucket, { self: identity.beat(), log: quietLog }),
    end: () => identity.end(),
  };
}

const specOf = (id: string): TaskSpec => makeDelivery(id).task.spec;

t.test('what still runs somewhere has ended nobody', async (t) => {
  const spec = specOf('silent');
  const [a, b, c] = await Promise.all([startWorker(t, 'a'), startWorker(t, 'b'), startWorker(t, 'c')]);
  t.equal(await a.starts.begin(spec), 0);
  t.equal(await b.starts.begin(spec), 0);
  t.equal(await c.starts.begin(spec), 0);
  await b.end();
  t.equal(await c.starts.begin(spec), 1, 'one of three is gone');
});

t.test('each life of a worker that has ended counts', async (t) => {
  const spec = specOf('poison');
  for (const [startedAt, before] of [
    [1, 0],
    [2, 1],
    [3, 2],
  ] as const) {
    const life = await startWorker(t, 'again', startedAt);
    t.equal(await life.starts.begin(spec), before);
  }
});

t.test('the first that lives to tell clears the task', async (t) => {
  const spec = specOf('innocent');
  const gone = await startWorker(t, 'gone');
  await gone.starts.begin(spec);
  await gone.end();
  const heir = await startWorker(t, 'heir');
  t.equal(await heir.starts.begin(spec), 1);
  await heir.starts.end(spec);
  t.equal(await heir.starts.begin(spec), 0);
});
