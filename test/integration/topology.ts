/** Definitions in `nats/` against a real server: created, kept, drifted, mended, refused. */
import { JetStreamApiError } from '@nats-io/jetstream';
import t from 'tap';
import { join } from 'node:path';
import { Failure } from '../../src/domain/failure.ts';
import { applyTopology, compareTopology, readTopologyFiles } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { projectRoot } from '../../src/project-root.ts';
import { createNames } from '../../src/wire/names.ts';
import { planTopology } from '../../src/wire/topology.ts';
import { startNatsServer } from '../kit/nats-server.ts';

const server = await startNatsServer(t);
const files = readTopologyFiles(join(projectRoot, 'nats'));
const topology = planTopology(files, { names: createNames('trawl'), replicas: 1 });

t.test('a fresh server gets everything, and a second apply changes nothing', async (t) => {
  const connection = await server.connect();
  const first = await applyTopology(connection, topology, { onDrift: 'update' });
  t.same(new Set(first.map((change) => change.action)), new Set(['created']));
  t.ok(first.length >= 18, 'streams, buckets and consumers');

  const second = await applyTopology(connection, topology, { onDrift: 'update' });
  t.same(
    second.filter((change) => change.action !== 'kept'),
    [],
  );
});

t.test('drift is shown, kept when asked, and mended', async (t) => {
  const connection = await server.connect();
  await connection.jsm.streams.update('EVENTS', { max_bytes: 1_000_000 });
  await connection.jsm.consumers.update('TASKS', 'p3', { ack_wait: 1_000_000_000 });

  const drifted = (await compareTopology(connection, topology)).filter((item) => item.state === 'drifted');
  t.same(
    drifted.map((item) => [item.name, item.drift]),
    [
      ['EVENTS', [{ setting: 'max_bytes', want: 268_435_456, have: 1_000_000 }]],
      ['TASKS > p3', [{ setting: 'ack_wait', want: 300_000_000_000, have: 1_000_000_000 }]],
    ],
  );

  const kept = await applyTopology(connection, topology, { onDrift: 'keep' });
  t.same(new Set(kept.map((change) => change.action)), new Set(['kept']));

  const mended = await applyTopology(connection, topology, { onDrift: 'update' });
  t.same(
    mended.filter((change) => change.action === 'updated').map((change) => change.name),
    ['EVENTS', 'TASKS > p3'],
  );
  t.same(
    (await compareTopology(connection, topology)).filter((item) => item.state !== 'same'),
    [],
  );
});

t.test('what the server cannot change is an error that shows the difference', async (t) => {
  const connection = await server.connect();
  const wrong = {
    ...topology,
    streams: topology.streams.map((stream) =>
      stream.name === 'EVENTS' ? { ...stream, settings: { ...stream.settings, storage: 'memory' } } : stream,
    ),
  };
  const failure = await applyTopology(connection, wrong, { onDrift: 'update' }).catch(
    (error: unknown) => error,
  );
  t.ok(failure instanceof Failure);
  t.match((failure as Failure).message, /refused to change stream EVENTS/);
  t.match((failure as Failure).hint, /storage: want "memory", have "file"/);
});

t.test('a server that has only just joined is waited for, one that is missing is not', async (t) => {
  const connection = await server.connect();
  const wanted = { ...topology, streams: [{ name: 'LATE', settings: { name: 'LATE', subjects: ['late'] } }] };
  const applyWhile = (words: string): Promise<unknown> =>
    applyTopology(refuseOnce(connection, words), { ...wanted, consumers: [] }, { onDrift: 'update' });

  await t.rejects(applyWhile('no suitable peers for placement, insufficient storage'), {
    message: /insufficient storage/,
  });
  t.match(await applyWhile('no suitable peers for placement, peer offline'), [
    { name: 'LATE', action: 'created' },
  ]);
});

t.test('another namespace lives beside the first and sees nothing of it', async (t) => {
  const connection = await server.connect();
  const names = createNames('second');
  const other = planTopology(files, { names, replicas: 1 });
  const changes = await applyTopology(connection, other, { onDrift: 'update' });
  t.same(new Set(changes.map((change) => change.action)), new Set(['created']));

  await connection.js.publish('second.submit.shop', 'https://example.com/');
  t.equal((await connection.jsm.streams.info('second_INTAKE')).state.messages, 1);
  t.equal((await connection.jsm.streams.info('INTAKE')).state.messages, 0);
});

t.test('a server without JetStream is explained', { timeout: 40_000 }, async (t) => {
  const bare = await startNatsServer(t, { jetstream: false });
  const connection = await bare.connect();
  const failure = await compareTopology(connection, topology).catch((error: unknown) => error);
  t.match(failure, { code: 'UNAVAILABLE', hint: /Is JetStream enabled/ });
});

/** The server's words while a cluster forms, which no test can bring about at will. */
function refuseOnce(connection: Connection, description: string): Connection {
  const { streams } = connection.jsm;
  let refused = false;
  const add: typeof streams.add = (...given) => {
    if (refused) return streams.add(...given);
    refused = true;
    return Promise.reject(new JetStreamApiError({ code: 400, err_code: 10_005, description }));
  };
  const jsm = Object.create(connection.jsm, {
    streams: { value: Object.create(streams, { add: { value: add } }) as typeof streams },
  }) as Connection['jsm'];
  return { ...connection, jsm };
}
