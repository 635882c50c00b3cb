/** A coordinator whose side work fails ends, so that whoever started it starts it again. */
import t from 'tap';
import { createClusterCoordinator } from '../../src/cluster/create-coordinator.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { readHolder } from '../../src/nats/lock.ts';
import { createStop } from '../../src/runtime/actor.ts';
import { keys } from '../../src/wire/names.ts';
import { names } from '../kit/coordinators.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { makeStreams } from '../kit/short-leases.ts';

t.test('side work that fails ends the coordinator', async (t) => {
  const server = await startNatsServer(t);
  const connection = await server.connect('c1');
  await makeStreams(connection);
  const bucket = openBucket(connection, names.bucket('cluster'));
  const control = createStop(5_000);
  t.teardown(() => control.settled());
  const coordinator = createClusterCoordinator({
    config: loadConfig({ flags: { 'nats.url': server.url }, env: {}, cwd: '/' }).config,
    names,
    connection,
    bucket: {
      ...bucket,
      watch: async (key, ...rest) => {
        if (key === keys.allTallies) throw new Error('the past cannot be kept');
        await bucket.watch(key, ...rest);
      },
    },
    id: 'c1',
    log: quietLog,
    announce: () => undefined,
  });
  await t.rejects(coordinator.run(control.stop), { message: 'the past cannot be kept' });
  t.notOk(control.stop.quiet.aborted, 'nobody told it to stop');
  for (const lock of ['coordinator', 'housekeeper'])
    t.equal(await readHolder(bucket, lock), undefined, `${lock}: somebody else may lead at once`);
});
