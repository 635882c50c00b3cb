/** One scrape now: three workers in processes of their own, a coordinator that chooses between them, and the command. */
import t from 'tap';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch as watchFolder, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planCluster } from '../../src/cluster/topology.ts';
import { createClient } from '../../src/client/client.ts';
import { loadConfig } from '../../src/config/load.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { askLoad } from '../../src/nats/load-survey.ts';
import { askActor } from '../../src/nats/mailbox.ts';
import { createNames } from '../../src/wire/names.ts';
import { watch } from '../kit/actors.ts';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

/** `hold`: until its time is up. `once`, `always`: leaves its pid in a folder and waits to be killed. */
const SCRAPER = `
  import { readdirSync, writeFileSync } from 'node:fs';
  export const scraper = {
    name: 'who',
    async run({ url, input, emit, signal }) {
      const { folder } = input;
      if (folder && (input.always || readdirSync(folder).length === 0)) {
        writeFileSync(folder + '/' + process.pid, '');
        await new Promise(() => undefined);
      }
      if (input.hold) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (input.megabytes) emit('x'.repeat(input.megabytes * 1024 * 1024));
      if (input.fail) throw new Error('it fails as it was told to');
      emit({ url, pid: process.pid });
      return { note: 'beside the items' };
    },
  };`;

const names = createNames('trawl');
const server = await startNatsServer(t);
const folder = temporaryFolder(t);
mkdirSync(join(folder, 'scrapers'));
writeFileSync(join(folder, 'scrapers/who.mjs'), SCRAPER);
const trawl = await installTrawl(t, {
  NATS_URL: server.url,
  TRAWL_WORKER_SCRAPERS: join(folder, 'scrapers'),
  TRAWL_WORKER_CONCURRENCY: '2',
});
const connection = await server.connect();
const { config } = loadConfig({ flags: { 'nats.url': server.url }, env: {}, cwd: folder });
await applyTopology(connection, planCluster(config), { onDrift: 'update' });
const client = createClient(connection, { names, durability: 'always' });
const beats = await watch(t, openBucket(connection, names.bucket('cluster')));
const workers = new Map<string, ChildProcess>();

async function startWorker(id: string): Promise<void> {
  workers.set(id, trawl.start('worker', '--id', id));
  await beats.until(id, ({ status, scrapers }) => status === 'running' && scrapers?.includes('who') === true);
}

/** Takes one slot of this worker until the time is up. */
function occupy(id: string, timeoutMs: number): Promise<unknown> {
  const body = { scraper: 'who', key: 'k', hold: true, timeoutMs };
  return askActor(connection, {
    names,
    role: 'worker',
    id,
    verb: 'call',
    body,
    timeoutMs: timeoutMs + 10_000,
  });
}

trawl.start('coordinator', '--id', 'c1');
await untilSo(
  () => client.stats().catch(() => undefined),
  (stats) => stats !== undefined,
);

t.test('without a worker, or without the scraper, it says so at once', async (t) => {
  await t.rejects(client.call('who', 'https://a.example/'), {
    code: 'UNAVAILABLE',
    message: 'no worker is alive',
  });
  const { code, stderr } = await trawl.run('call', 'who', '--url', 'https://a.example/');
  t.equal(code, 3);
  t.match(stderr, /^trawl: no worker is alive\n/);
  await Promise.all(['w1', 'w2', 'w3'].map(startWorker));
  await t.rejects(client.call('nobody', 'https://a.example/'), {
    code: 'INVALID',
    message: 'no worker that is alive has the scraper nobody',
    hint: 'They have: noop, who.',
  });
  await t.rejects(client.call('who', {}), { code: 'INVALID', message: /needs a url, a key or an input/ });
  await t.rejects(client.call('who', 'not a url'), { code: 'INVALID' });
});

t.test('the answer has items, data and who gave it; nothing is stored', async (t) => {
  const answer = await client.call('who', 'https://a.example/1');
  t.match(answer, {
    state: 'done',
    scraper: 'who',
    items: [{ url: 'https://a.example/1', pid: Number }],
    data: { note: 'beside the items' },
    passedOver: [],
  });
  t.match(await client.call('who', { key: 'k', fail: true }), {
    state: 'failed',
    items: [],
    error: { code: 'INTERNAL', message: 'it fails as it was told to' },
  });
  t.match(await client.call('who', { key: 'k', hold: true }, { timeoutMs: 50 }), {
    error: { code: 'TIMEOUT' },
  });
  t.match(await client.call('who', { key: 'k', megabytes: 2 }), { error: { code: 'TOO_BIG' } });
  const { state } = await connection.jsm.streams.info('LEDGER');
  t.equal(state.messages, 0);
});

t.test('the command', async (t) => {
  const url = ['call', 'who', '--url', 'https://a.example/2'];
  t.match(JSON.parse((await trawl.run(...url)).stdout), { url: 'https://a.example/2' });
  t.match(await trawl.json(...url, '--strategy', 'random'), { state: 'done', worker: /^w[123]$/ });
  const failed = await trawl.run('call', 'who', '--input', '{"fail":true}');
  t.equal(failed.code, 1);
  t.match(failed.stderr, /^trawl: INTERNAL: it fails as it was told to \(w\d, \d+ ms\)\n$/);
  const late = await trawl.run('call', 'who', '--input', '{"hold":true}', '--timeout', '1s');
  t.match(late, { code: 1, stderr: /TIMEOUT: not done within/ });
  t.equal((await trawl.run('call', 'who')).code, 2);
  t.equal((await trawl.run('call', 'who', '--input', '[]')).code, 2);
});

t.test('the strategies spread the calls', async (t) => {
  const ask = async (strategy: 'round_robin' | 'random' | 'least_loaded'): Promise<string> =>
    (await client.call('who', 'https://a.example/', { strategy })).worker;
  const turns = [];
  for (let n = 0; n < 6; n += 1) turns.push(await ask('round_robin'));
  t.same(turns.slice(0, 3).sort(), ['w1', 'w2', 'w3'], 'each in its turn');
  t.same(turns.slice(3), turns.slice(0, 3), 'and again');

  const seen = new Set<string>();
  for (let n = 0; n < 60 && seen.size < 3; n += 1) seen.add(await ask('random'));
  t.equal(seen.size, 3);

  const held = [occupy('w1', 4_000), occupy('w3', 4_000)];
  await untilHeld('w1', 1);
  await untilHeld('w3', 1);
  for (let n = 0; n < 5; n += 1) t.equal(await ask('least_loaded'), 'w2', 'the idle one');
  await Promise.allSettled(held);
});

t.test('a worker that is full refuses at once, and the next one is asked', async (t) => {
  const held = ['w1', 'w2'].flatMap((id) => [occupy(id, 4_000), occupy(id, 4_000)]);
  await untilHeld('w1', 2);
  await untilHeld('w2', 2);
  for (let n = 0; n < 3; n += 1) {
    const { worker, passedOver } = await client.call('who', { key: 'k' }, { strategy: 'round_robin' });
    t.equal(worker, 'w3');
    for (const { reason } of passedOver) t.equal(reason, 'busy');
  }
  held.push(occupy('w3', 4_000), occupy('w3', 4_000));
  await untilHeld('w3', 2);
  await t.rejects(client.call('who', { key: 'k' }), {
    code: 'THROTTLED',
    message: /^no worker has room for a call of who \(w\d: busy; w\d: busy; w\d: busy\)$/,
  });
  await Promise.allSettled(held);
});

t.test('a worker that is killed in the middle is followed by another, once', async (t) => {
  const marks = temporaryFolder(t);
  const call = client.call('who', { key: 'k', folder: marks, once: true });
  const [victim] = await pidsIn(marks, 1);
  process.kill(victim ?? 0, 'SIGKILL');
  const answer = await call;
  t.equal(answer.state, 'done');
  t.equal(answer.passedOver.length, 1);
  t.equal(workers.get(answer.passedOver[0]?.worker ?? '')?.pid, victim);

  const more = temporaryFolder(t);
  await startWorker('w4');
  const lost = client.call('who', { key: 'k', folder: more, always: true });
  const ended = t.rejects(lost, { code: 'NETWORK', message: /^the call of who was lost \(w\d: .*; w\d: / });
  const [first] = await pidsIn(more, 1);
  process.kill(first ?? 0, 'SIGKILL');
  const both = await pidsIn(more, 2);
  process.kill(both.find((pid) => pid !== first) ?? 0, 'SIGKILL');
  await ended;
  t.equal(readdirSync(more).length, 2, 'the third was not asked');
});

/** Its own word for it: heartbeats are too old. */
async function untilHeld(id: string, running: number): Promise<void> {
  await untilSo(
    async () => (await askLoad(connection, names, [id])).get(id),
    (found) => found === running,
  );
}

async function pidsIn(place: string, count: number): Promise<number[]> {
  const watcher = watchFolder(place);
  try {
    while (readdirSync(place).length < count) await once(watcher, 'change');
    return readdirSync(place).map(Number);
  } finally {
    watcher.close();
  }
}
