/** Listing a bucket while its servers have no leader to answer. */
import t from 'tap';
import { openBucket } from '../../src/nats/bucket.ts';
import { bytes, openClusterBucket } from '../kit/cluster-bucket.ts';
import { startNatsServer } from '../kit/nats-server.ts';

const server = await startNatsServer(t);
const { bucket, connection } = await openClusterBucket(server);

t.test('a listing whose first question nobody answers asks again', async (t) => {
  const revision = await bucket.put('run.b', bytes('two'));
  let asked = 0;
  const consumers = Object.create(connection.jsm.consumers, {
    // As while servers elect a leader: the question is lost, and no answer will ever come.
    add: {
      value: (...args: Parameters<typeof connection.jsm.consumers.add>) =>
        (asked += 1) === 1 ? new Promise(() => undefined) : connection.jsm.consumers.add(...args),
    },
  }) as typeof connection.jsm.consumers;
  const jsm = Object.create(connection.jsm, { consumers: { value: consumers } }) as typeof connection.jsm;
  const electing = openBucket({ ...connection, jsm }, 'cluster');
  t.match(await electing.list('run.>'), [{ key: 'run.b', revision }]);
  t.equal(asked, 2);
});
