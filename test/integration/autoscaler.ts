/** Autoscalers on a real server, with snapshots of the test's own and a command that writes down what it is told. */
import t from 'tap';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startActor, type Running } from '../../src/cluster/start-actor.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Snapshot } from '../../src/domain/snapshot.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { readScaleEvents } from '../../src/nats/scale-history.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { encodeJson } from '../../src/wire/codec.ts';
import { createNames, keys } from '../../src/wire/names.ts';
import { decodeScale, type ScaleRecord } from '../../src/wire/scale-record.ts';
import { claim } from '../kit/actors.ts';
import { listen } from '../kit/cluster-bucket.ts';
import { quietLog, startNatsServer, temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';
import { makeSnapshot, makeWorker } from '../kit/snapshots.ts';

const names = createNames('trawl');
const server = await startNatsServer(t);
const connection = await server.connect();
const bucket = openBucket(connection, names.bucket('cluster'));
await applyTopology(connection, planCluster(configOf({})), { onDrift: 'update' });
const services = createServices(connection, names, { nobody: 'nobody', hint: '', patienceMs: 10_000 });

const impatient = createServices(connection, names);

/** What the exporter would answer. */
let snapshot: Partial<Snapshot> | undefined;
connection.nc.subscribe('trawl.ctl.snapshot', {
  callback: (_, message) => {
    if (snapshot) message.respond(encodeJson(makeSnapshot({ at: Date.now(), ...snapshot })));
  },
});

const two = [makeWorker({ id: 'w1' }), makeWorker({ id: 'w2' })];
const backlog: Partial<Snapshot> = {
  workers: two.map((worker) => ({ ...worker, busy: 3 })),
  queue: { lanes: [], ready: 500, running: 6, delayed: 0, intake: 0 },
  recent: { seconds: 60, done: 60, dead: 0, failed: 0, taskMs: 1_000 },
};

function configOf(flags: Readonly<Record<string, string>>): ReturnType<typeof loadConfig>['config'] {
  return loadConfig({
    flags: { 'nats.url': server.url, 'leader.ttl': '1s', 'autoscale.interval': '100ms', ...flags },
    env: {},
    cwd: '/',
  }).config;
}

async function start(t: Teardown, id: string, flags: Readonly<Record<string, string>>): Promise<Running> {
  const actor = await startActor(configOf({ 'actor.id': id, ...flags }), {
    role: 'autoscaler',
    log: quietLog,
  });
  t.teardown(async () => {
    actor.abort();
    await actor.done.catch(() => undefined);
  });
  return actor;
}

async function readRecord(): Promise<ScaleRecord | undefined> {
  const entry = await bucket.get(keys.scale);
  return entry && decodeScale(entry.value);
}

const notes = join(temporaryFolder(t), 'notes');
const noted = (): string[] => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []);
const command = { 'autoscale.driver': 'command', 'autoscale.command': `echo {from} {to} >> ${notes}` };

t.test('without an exporter nothing is changed', async (t) => {
  snapshot = undefined;
  const actor = await start(t, 'a0', { ...command, 'autoscale.staleAfter': '1s' });
  const record = await untilSo(readRecord, (found) => found?.reason === 'no-metrics');
  t.match(record, { action: 'hold', decisions: { up: 0 } });
  snapshot = { ...backlog, at: 1_000 };
  await untilSo(readRecord, (found) => found?.reason === 'stale-metrics');
  t.strictSame(noted(), []);
  actor.quiet();
  await actor.done;
});

t.test('one of two acts, once, and the next one goes on from there', async (t) => {
  snapshot = backlog;
  const first = await start(t, 'a1', command);
  await untilSo(
    async () => noted(),
    (lines) => lines.length > 0,
  );
  const second = await start(t, 'a2', command);
  t.strictSame(noted(), ['2 6'], 'a backlog of 506 seconds, three slots each, within 30 seconds');
  t.match(await services.call('scale.status', {}), {
    leader: 'a1',
    driver: 'command',
    record: { desired: 6 },
  });
  const before = await readRecord();
  t.match(before, { desired: 6, by: 'a1' });
  first.quiet();
  await first.done;
  const after = await untilSo(readRecord, (found) => found?.by === 'a2');
  t.equal(after?.lastUpAt, before?.lastUpAt, 'the cooldown outlives its leader');
  t.ok((after?.decisions.hold ?? 0) >= (before?.decisions.hold ?? 0), 'the counts only grow');
  t.strictSame(noted(), ['2 6'], 'nothing was done twice');

  await t.test('by hand', async (t) => {
    t.match(await services.call('scale', { role: 'worker', count: 4 }), { from: 2, to: 4, reason: 'manual' });
    t.strictSame(noted(), ['2 6', '2 4']);
    await t.rejects(services.call('scale', { role: 'worker', count: 50 }), { code: 'INVALID' });
    await t.rejects(services.call('scale', { role: 'sink', count: 3 }), { code: 'INVALID' });
  });

  await t.test('every decision is an event, read without a consumer', async (t) => {
    const events = await readScaleEvents(connection, names, { since: Date.now() - 60_000 });
    const decided = events.filter(({ kind }) => kind === 'decided');
    t.ok(decided.some(({ facts }) => facts['action'] === 'up' && facts['reason'] === 'backlog'));
    t.ok(decided.some(({ facts }) => facts['reason'] === 'no-metrics'));
    const seqs = events.map(({ seq }) => seq);
    t.strictSame(
      seqs,
      [...seqs].sort((a, b) => a - b),
    );
    t.equal((await connection.jsm.streams.info('EVENTS')).state.consumer_count, 0);
    t.strictSame(await readScaleEvents(connection, names, { since: Date.now() + 60_000 }), []);
  });
  second.quiet();
  await second.done;
});

t.test('the server refuses one that no longer leads', async (t) => {
  snapshot = { workers: two };
  await start(t, 'a3', command);
  await untilSo(readRecord, (found) => found?.by === 'a3');
  const done = noted().length;
  // Somebody else has the lock, and a3 does not know yet.
  const heard = await listen(t, bucket, keys.lock('autoscaler'));
  await bucket.put(keys.lock('autoscaler'), encodeJson({ owner: 'usurper', since: Date.now(), term: 'x' }));
  snapshot = { ...backlog, workers: two };
  const last = await readRecord();
  // It finds out when it writes, or when it renews; either way it ends its term without a deed.
  await untilSo(
    () =>
      impatient.call('scale.status', {}, { timeoutMs: 1_000 }).then(
        () => 'answers',
        () => 'silent',
      ),
    (found) => found === 'silent',
  );
  t.ok(heard.changes.length > 0);
  t.equal(noted().length, done, 'no deed');
  t.equal((await readRecord())?.at, last?.at ?? 0, 'no wish');
});

t.test('the load by a Prometheus', async (t) => {
  await bucket.purge(keys.lock('autoscaler'), {
    expect: (await bucket.get(keys.lock('autoscaler')))?.revision ?? 0,
    markerTtlMs: 1_000,
  });
  const answers = new Map([
    ['tasks', '[{"metric":{},"value":[1,"91"]}]'],
    ['seconds', '[{"metric":{},"value":[1,"2.5"]}]'],
  ]);
  const prometheus = createServer(({ url = '' }, response) => {
    const query = new URL(url, 'http://x').searchParams.get('query') ?? '';
    response.end(
      `{"status":"success","data":{"resultType":"vector","result":${answers.get(query) ?? '[]'}}}`,
    );
  }).listen(0, '127.0.0.1');
  await once(prometheus, 'listening');
  t.teardown(() => prometheus.close());
  await claim(t, bucket, { id: 'w1', status: 'running', limits: { concurrency: 3 } });
  await claim(t, bucket, { id: 'w2', status: 'running', limits: { concurrency: 3 }, inFlight: 3 });
  writeFileSync(notes, '');
  await start(t, 'a4', {
    ...command,
    'autoscale.source': 'prometheus',
    'autoscale.prometheusUrl': `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`,
    'autoscale.prometheusLoad': 'tasks',
    'autoscale.prometheusDuration': 'seconds',
    'autoscale.cooldownUp': '0s',
  });
  await untilSo(
    async () => readFileSync(notes, 'utf8').trim(),
    (text) => text.startsWith('2 3'),
  );
  t.match(await services.call('scale.status', {}), {
    source: 'prometheus',
    decision: { inputs: { backlog: 91, load: { taskMs: 2_500, live: 2, slots: 3 } } },
  });
  answers.set('tasks', '[]');
  await untilSo(readRecord, (found) => found?.reason === 'no-metrics');
  t.pass('a question without an answer changes nothing');
});

t.test('what people type wrongly is answered with words', async (t) => {
  const trawl = await installTrawl(t, { NATS_URL: server.url });
  t.match(await trawl.run('scale', 'worker'), {
    code: 2,
    stderr: /not a size: worker\ntrawl scale worker=N/,
  });
  t.match(await trawl.run('scale', 'sink=2'), { code: 2, stderr: /only workers can be scaled, not sink/ });
  t.match(await trawl.run('drain', 'nobody'), { code: 1, stderr: /nobody is called nobody\n`trawl status`/ });
  t.match(await trawl.run('autoscale', 'replay', '--max', '0'), {
    code: 2,
    stderr: /--max must be|no autoscaler/,
  });
});
