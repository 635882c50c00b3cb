/** Steering tasks through the services of a real coordinator, with real workers: cancel, pause, why, dead letters, the dead. */
import t from 'tap';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planCluster } from '../../src/cluster/topology.ts';
import { startActor, type Running } from '../../src/cluster/start-actor.ts';
import { loadConfig } from '../../src/config/load.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { readCarried } from '../../src/nats/carried.ts';
import { giveBackTasksOf } from '../../src/nats/give-back.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { encodeJson } from '../../src/wire/codec.ts';
import { createNames, keys } from '../../src/wire/names.ts';
import { quietLog, startNatsServer, temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { installTrawl } from '../kit/trawl.ts';

const SCRAPER = `
  export const scraper = {
    name: 'gate',
    retries: 0,
    async run({ input, signal, emit }) {
      if (input.fail) throw new Error('it fails as it was told to');
      if (input.hold) await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      emit({ n: 1 });
    },
  };`;

/** Fails as often as it is told to, and then waits: in a worker's hand, or for its time. */
const STUBBORN = `
  export const scraper = {
    name: 'stubborn',
    retries: 9,
    async run({ input, attempt, signal }) {
      if (attempt <= input.failures) throw new Error('attempt ' + attempt);
      if (input.later) throw Object.assign(new Error('later'), { name: 'Failure', code: 'THROTTLED', retryAtMs: Date.now() + 600_000 });
      await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };`;

const names = createNames('trawl');
const server = await startNatsServer(t);
const folder = temporaryFolder(t);
mkdirSync(join(folder, 'scrapers'));
writeFileSync(join(folder, 'scrapers/gate.mjs'), SCRAPER);
writeFileSync(join(folder, 'scrapers/stubborn.mjs'), STUBBORN);
const connection = await server.connect();
const { config } = loadConfig({
  flags: {
    'nats.url': server.url,
    'worker.scrapers': join(folder, 'scrapers'),
    'heartbeat.interval': '300ms',
    'heartbeat.deadAfter': '2s',
    'leader.ttl': '1s',
    'runs.keep': '3s',
    'tasks.retryBase': '50ms',
    'runs.maxActivePerScraper': '50',
  },
  env: {},
  cwd: folder,
});
await applyTopology(connection, planCluster(config), { onDrift: 'update' });
const bucket = openBucket(connection, names.bucket('cluster'));
const reader = createLedgerReader(connection, names);
const services = createServices(connection, names);

async function start(t: Teardown, role: 'coordinator' | 'worker', id: string): Promise<Running> {
  const actor = await startActor({ ...config, actor: { ...config.actor, id } }, { role, log: quietLog });
  t.teardown(async () => {
    actor.abort();
    await actor.done.catch(() => undefined);
  });
  return actor;
}

await start(t, 'coordinator', 'c1');
await start(t, 'worker', 'w1');

const call = <T>(verb: string, body: object): Promise<T> => services.call(verb, body) as Promise<T>;

async function submit(run: string, key: string, input: object, scraper = 'gate'): Promise<string> {
  const { tasks } = await call<{ tasks: { id: string }[] }>('submit', { scraper, run, key, input });
  return tasks[0]?.id ?? '';
}

/** Looks again until it is so: what happens in between has no event of its own. */
async function until<T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = await look();
    if (isSo(found)) return found;
    if (Date.now() > end) throw new Error(`it did not come to that: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const text = (value: Uint8Array): string => new TextDecoder().decode(value);
const stateOf = async (run: string, id: string): Promise<string> =>
  (await reader.read(run, id))?.record.state ?? 'none';
const whereIs = (id: string, run?: string): Promise<{ where: string; explanation: string[] }> =>
  call('why', { id, ...(run !== undefined && { run }) });

t.test('a running task is cancelled at once, and stays cancelled', async (t) => {
  const id = await submit('one', 'hold-1', { hold: true });
  await until(
    () => whereIs(id),
    ({ where }) => where === 'running',
  );
  const began = performance.now();
  t.match(await call('task.cancel', { run: 'one', id }), { cancelled: true });
  t.equal(await stateOf('one', id), 'cancelled', 'when the answer is here it is so');
  t.ok(performance.now() - began < 1_000, 'in less than a second');
  t.match(await whereIs(id), { where: 'cancelled' });
});

t.test('a run is cancelled, running and queued alike, and its counters add up', async (t) => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, n) => submit('many', `k${n}`, { hold: true })),
  );
  await until(
    () => call<{ running: number }>('stats', {}),
    ({ running }) => running > 0,
  );
  const began = performance.now();
  t.match(await call('run.cancel', { run: 'many' }), { state: 'cancelled' });
  t.ok(performance.now() - began < 1_000, 'in less than a second');
  await until(
    () => call<{ final?: object }>('run.show', { run: 'many' }),
    ({ final }) => final !== undefined,
  );
  const states = await Promise.all(ids.map((id) => stateOf('many', id)));
  t.same(new Set(states), new Set(['cancelled']));
  t.match(await reader.counts('many'), { accepted: 20, cancelled: 20 });
  await t.rejects(call('run.cancel', { run: 'many' }), { code: 'CONFLICT' }, 'twice is told');
});

t.test('a cancelled task keeps the attempts that it carried, whoever settles it', async (t) => {
  const faultsOf = async (run: string, id: string): Promise<string[]> => {
    const record = (await reader.read(run, id))?.record;
    return record?.state === 'cancelled' ? record.faults.map(({ message }) => message) : ['not cancelled'];
  };
  const start = async (run: string): Promise<[waits: string, runs: string, fresh: string]> => {
    const input = { failures: 2 };
    const waits = await submit(run, 'waits', { ...input, later: true }, 'stubborn');
    const runs = await submit(run, 'runs', input, 'stubborn');
    const fresh = await submit(run, 'fresh', { failures: 0 }, 'stubborn');
    for (const [id, wanted, attempts] of [
      [waits, 'deferred', 2],
      [runs, 'running', 2],
      [fresh, 'running', 0],
    ] as const)
      await until(
        async () => ({
          ...(await whereIs(id, run)),
          carried: await readCarried(connection, names, { run, id }),
        }),
        ({ where, carried }) => where === wanted && carried?.length === attempts,
      );
    return [waits, runs, fresh];
  };
  const both = ['attempt 1', 'attempt 2'];

  const single = await start('carried-1');
  for (const id of single) t.match(await call('task.cancel', { run: 'carried-1', id }), { cancelled: true });
  t.same(
    await Promise.all(single.map((id) => faultsOf('carried-1', id))),
    [both, both, []],
    'by the coordinator',
  );

  const whole = await start('carried-2');
  await call('run.cancel', { run: 'carried-2' });
  await until(
    () => call<{ final?: object }>('run.show', { run: 'carried-2' }),
    ({ final }) => final !== undefined,
  );
  t.same(
    await Promise.all(whole.map((id) => faultsOf('carried-2', id))),
    [both, both, []],
    'by whoever was first: a worker, or a coordinator',
  );
});

t.test('a paused scraper holds its tasks back, and they say why', async (t) => {
  await call('pause', { kind: 'scraper', name: 'gate' });
  const id = await submit('held', 'p1', {});
  const { explanation } = await until(
    () => whereIs(id),
    ({ where }) => where === 'deferred',
  );
  t.match(explanation.join(' '), /the scraper gate is paused/);
  t.match(await call('resume', { kind: 'scraper', name: 'gate' }), { paused: [] });
});

t.test('a paused cluster starts nothing until it goes on', async (t) => {
  await call('pause', { kind: 'cluster' });
  const id = await submit('still', 's1', {});
  await until(
    () => whereIs(id),
    ({ where }) => where === 'queued',
  );
  await call('resume', { kind: 'cluster' });
  await until(
    () => stateOf('still', id),
    (state) => state === 'done',
  );
  t.pass('done');
});

t.test('dead letters are found by what killed them, put back once, and dropped', async (t) => {
  const id = await submit('fatal', 'f1', { fail: true });
  await until(
    () => stateOf('fatal', id),
    (state) => state === 'dead',
  );
  t.match(await call('dead.list', { run: 'fatal' }), {
    count: 1,
    groups: [{ code: 'INTERNAL', count: 1 }],
    tasks: [{ id, task: { faults: [{ worker: 'w1' }] } }],
  });
  t.match(await call('dead.list', { run: 'fatal', code: 'TIMEOUT' }), { count: 0 });
  t.match(await call('dead.retry', { run: 'fatal', dryRun: true }), { matched: 1, changed: 0 });
  const both = await Promise.all([1, 2].map(() => call<{ changed: number }>('dead.retry', { run: 'fatal' })));
  t.equal(
    both.reduce((sum, { changed }) => sum + changed, 0),
    1,
    'two people, one put it back',
  );
  await until(
    () => stateOf('fatal', id),
    (state) => state === 'dead',
  );
  t.match(await call('dead.drop', { run: 'fatal' }), { matched: 1, changed: 1 });
  t.equal(await stateOf('fatal', id), 'cancelled');
  t.match(await call('dead.list', { run: 'fatal' }), { count: 0 });
});

t.test(
  'what a dead worker had in hand is given back before its lease ends',
  { timeout: 60_000 },
  async (t) => {
    // A worker of its own process, so that it can be killed; the one of this test must not take the task first.
    const trawl = await installTrawl(t, {
      NATS_URL: server.url,
      TRAWL_WORKER_SCRAPERS: join(folder, 'scrapers'),
      TRAWL_HEARTBEAT_INTERVAL: '300ms',
      TRAWL_HEARTBEAT_DEAD_AFTER: '2s',
    });
    await connection.nc.request('trawl.ctl.worker.w1.pause');
    const doomed = trawl.start('worker', '--id', 'doomed');
    const id = await submit('orphan', 'o1', { hold: true });
    await until(
      () => bucket.list(keys.allInHand),
      (found) => found.some(({ key, value }) => key.startsWith('hand.doomed.') && value.length > 4),
    );
    doomed.kill('SIGKILL');
    await connection.nc.request('trawl.ctl.worker.w1.resume');
    // The lease is 300 s: only the heartbeat's end can bring it back in this time.
    const { explanation } = await until(
      () => whereIs(id),
      ({ where, explanation: why }) => where === 'running' && /^w1 /.test(why[0] ?? ''),
    );
    t.match(explanation[0], /^w1 works on it/);
    await call('task.cancel', { run: 'orphan', id });
  },
);

t.test(
  'what a killed worker had in hand is given back when it starts anew under its id',
  { timeout: 60_000 },
  async (t) => {
    // Its heartbeat never ends: only the new life shows that the old one is over.
    const trawl = await installTrawl(t, {
      NATS_URL: server.url,
      TRAWL_WORKER_SCRAPERS: join(folder, 'scrapers'),
    });
    await connection.nc.request('trawl.ctl.worker.w1.pause');
    const first = trawl.start('worker', '--id', 'again');
    const id = await submit('again', 'a1', { hold: true });
    const handsOf = async (): Promise<string[]> =>
      (await bucket.list(keys.allInHand)).flatMap(({ key, value }) =>
        key.startsWith('hand.again.') && text(value).includes(id) ? [key] : [],
      );
    const [before] = await until(handsOf, ({ length }) => length > 0);
    const gone = once(first, 'exit');
    first.kill('SIGKILL');
    await gone;
    trawl.start('worker', '--id', 'again');
    const [after] = await until(handsOf, ([key]) => key !== undefined && key !== before);
    t.match(after, /^hand\.again\./);
    await connection.nc.request('trawl.ctl.worker.w1.resume');
    await call('task.cancel', { run: 'again', id });
  },
);

t.test('nothing of the next life is given back with what a dead one had', async (t) => {
  const told = { old: 0, new: 0 };
  const hear = (life: keyof typeof told): string => {
    const subject = `reply.${life}`;
    const subscription = connection.nc.subscribe(subject, { callback: () => void (told[life] += 1) });
    t.teardown(() => subscription.unsubscribe());
    return subject;
  };
  const put = (startedAt: number, reply: string): Promise<number> =>
    bucket.put(keys.inHand({ id: 'heir', startedAt }), encodeJson([{ reply }]), { ttlMs: 60_000 });
  await put(1, hear('old'));
  await put(2, hear('new'));
  t.equal(await giveBackTasksOf(connection, bucket, { id: 'heir', startedAt: 1 }), 1);
  t.equal(await giveBackTasksOf(connection, bucket, { id: 'heir', startedAt: 1 }), 0, 'and only once');
  await connection.nc.flush();
  t.same(told, { old: 1, new: 0 });
});

t.test(
  'a run that ended long ago is removed, with everything that is kept of it',
  { timeout: 40_000 },
  async (t) => {
    const { js } = connection;
    await js.publish(names.submit('gate', 'old'), encodeJson({ key: 'x', input: {} }));
    await until(
      () => call<{ runs: { id: string }[] }>('run.list', {}),
      ({ runs }) => runs.some(({ id }) => id === 'old'),
    );
    await call('run.seal', { run: 'old', messages: 1 });
    await until(
      () => call<{ runs: { id: string; state: string }[] }>('run.list', {}),
      ({ runs }) => !runs.some(({ id }) => id === 'old'),
    );
    t.match(await reader.counts('old'), { accepted: 0 });
  },
);
