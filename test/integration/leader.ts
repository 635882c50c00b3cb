/** Leader election with real processes that die, stop and wake, and with connections that come and go. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure } from '../../src/domain/failure.ts';
import { runAsLeader, type LeaderOptions } from '../../src/nats/leader.ts';
import { readHolder, type Lock } from '../../src/nats/lock.ts';
import { startCandidate, type Candidate } from '../kit/candidate.ts';
import { bytes, listen, openClusterBucket, text } from '../kit/cluster-bucket.ts';
import { quietLog, startNatsServer, type Teardown } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';

const TTL_MS = 3_000;

const server = await startNatsServer(t);
const { bucket } = await openClusterBucket(server);

t.test('a leader that is killed is replaced within its time limit and a second', async (t) => {
  const [a, b] = await candidates(t, 'killed');
  a.signal('SIGKILL');
  const began = performance.now();
  await b.said('leading');
  const tookMs = performance.now() - began;
  t.ok(tookMs < TTL_MS + 1_000, `${Math.round(tookMs)} ms`);
  t.equal((await readHolder(bucket, 'killed'))?.owner, 'b');
});

t.test('a lock is followed by those who wait for it, not by whoever leads', async (t) => {
  const { bucket: own, connection } = await openClusterBucket(server);
  const followers = async (): Promise<number> => {
    let found = 0;
    for await (const { config } of connection.jsm.consumers.list(`KV_${own.name}`))
      if (config.filter_subject === `$KV.${own.name}.lock.followed`) found += 1;
    return found;
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const terms: string[] = [];
  const campaign = (owner: string, quiet: AbortSignal): Promise<void> =>
    lead({ bucket: own, name: 'followed', ttlMs: TTL_MS, owner, quiet }, async (_, over) => {
      terms.push(owner);
      await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
    });
  const one = campaign('one', first.signal);
  await untilSo(
    () => Promise.resolve(terms),
    ({ length }) => length === 1,
  );
  t.equal(await followers(), 0, 'nobody waits');
  const other = campaign('other', second.signal);
  await untilSo(followers, (now) => now === 1);
  first.abort();
  await one;
  await untilSo(
    () => Promise.resolve(terms),
    ({ length }) => length === 2,
  );
  await untilSo(followers, (now) => now === 0);
  second.abort();
  await other;
  t.same(terms, ['one', 'other']);
});

t.test('a leader that is asked to stop is replaced at once', async (t) => {
  // So long that nobody would wait for the end of it.
  const [a, b] = await candidates(t, 'asked', 30_000);
  a.signal('SIGTERM');
  await a.said('stepped-down');
  const began = performance.now();
  await b.said('leading');
  const tookMs = performance.now() - began;
  t.ok(tookMs < 10_000, `${Math.round(tookMs)} ms`);
  t.equal(await a.exited, 0);
});

t.test('a leader that wakes after its time is refused and steps down', async (t) => {
  const [a, b] = await candidates(t, 'stopped');
  const heard = await listen(t, bucket, 'run.leader');
  a.signal('SIGSTOP');
  await b.said('leading');
  const takeover = await heard.until(({ entry }) => text(entry?.value) === 'b');

  a.signal('SIGCONT');
  t.equal((await a.said('refused'))['code'], 'CONFLICT');
  t.equal((await a.said('refused-by-server'))['code'], 'CONFLICT');
  await a.said('stepped-down');
  const after = heard.changes.slice(heard.changes.indexOf(takeover));
  t.same([...new Set(after.map(({ entry }) => text(entry?.value)))], ['b'], 'only the new leader wrote');

  b.signal('SIGTERM');
  await a.said('leading');
  t.equal(await b.exited, 0, 'and the old one campaigns again');
});

t.test('candidates on bad connections never act in each other’s term', async (t) => {
  const heard = await listen(t, bucket, 'run.flap');
  const quiet = new AbortController();
  const stored: { number: number; revision: number }[] = [];
  let terms = 0;
  const runs = [1, 2].map(async (number) => {
    const { bucket: own, connection } = await openClusterBucket(server, `flapping ${number}`);
    const flapping = (async () => {
      for (;;) {
        await delay(200 + Math.random() * 600, undefined, { signal: quiet.signal });
        await connection.nc.reconnect();
      }
    })().catch(() => undefined); // ends with the test
    await lead({ bucket: own, name: 'flap', ttlMs: 1_000, owner: `${number}`, quiet: quiet.signal }, work);
    await flapping;
  });
  // Enough to see several changes of leader, however slow the machine.
  await heard.until(({ entry }) => Number(text(entry?.value)) >= 4, 60_000);
  quiet.abort();
  await Promise.all(runs);

  // By the revisions that the server gave: the true order of all that was stored.
  const written = stored.sort((a, b) => a.revision - b.revision).map(({ number }) => number);
  const blocks = written.filter((term, index) => term !== written[index - 1]);
  t.equal(new Set(blocks).size, blocks.length, `terms one after the other: ${blocks.join(', ')}`);
  t.ok(written.length > blocks.length);

  /** Writes the number of its term until it is refused; it neither asks for the time nor minds an outage. */
  async function work(term: Lock): Promise<void> {
    const number = (terms += 1);
    while (!quiet.signal.aborted) {
      try {
        stored.push({ number, revision: await term.fencedPut('run.flap', bytes(String(number))) });
      } catch (error) {
        if (asFailure(error).code === 'CONFLICT') return;
      }
      await delay(3);
    }
  }
});

t.test('a term that ends early is given up, and the next one comes', async (t) => {
  const quiet = new AbortController();
  const terms: number[] = [];
  await lead({ bucket, name: 'early', ttlMs: 5_000, owner: 'e', quiet: quiet.signal }, async (term) => {
    terms.push(term.token());
    if (terms.length === 2) quiet.abort();
  });
  t.equal(terms.length, 2);
  t.equal(await readHolder(bucket, 'early'), undefined, 'released');
});

t.test('a leader that fails gives the lock back, and the failure is told', async (t) => {
  const quiet = new AbortController();
  t.teardown(() => quiet.abort());
  const options = { bucket, name: 'failing', ttlMs: 5_000, owner: 'f', quiet: quiet.signal };
  const heard = await listen(t, bucket, 'lock.failing');
  const order: string[] = [];
  await t.rejects(
    lead(options, async (_, over) => {
      over.addEventListener('abort', () => {
        order.push('over', heard.changes.at(-1)?.entry ? 'held' : 'free');
      });
      await heard.until(({ entry }) => entry !== undefined);
      throw new Error('broken');
    }),
    { message: 'broken' },
  );
  t.same(order, ['over', 'held'], 'what else it had begun is told before others may lead');
  t.equal(await readHolder(bucket, 'failing'), undefined);
});

t.test('a leader that is stopped ends its work, then releases', async (t) => {
  const quiet = new AbortController();
  const order: string[] = [];
  await lead(
    { bucket, name: 'orderly', ttlMs: 5_000, owner: 'o', quiet: quiet.signal },
    async (term, over) => {
      setImmediate(() => quiet.abort());
      await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
      await term.fencedPut('run.orderly', bytes('last words'));
      order.push((await readHolder(bucket, 'orderly'))?.owner ?? 'nobody');
    },
  );
  order.push((await readHolder(bucket, 'orderly'))?.owner ?? 'nobody');
  t.same(order, ['o', 'nobody']);
});

t.test('a candidate can be stopped while it waits, and while NATS is away', async (t) => {
  const holding = new AbortController();
  const held = new Promise<void>((resolve) => {
    const options = { bucket, name: 'waited', ttlMs: 5_000, owner: 'h', quiet: holding.signal };
    const running = lead(options, async (_, over) => {
      resolve();
      await new Promise((end) => over.addEventListener('abort', end, { once: true }));
    });
    t.teardown(() => running);
  });
  await held;
  const quiet = new AbortController();
  const waiting = lead(
    { bucket, name: 'waited', ttlMs: 5_000, owner: 'w', quiet: quiet.signal },
    async () => {
      t.fail('two leaders');
    },
  );
  const heard = await listen(t, bucket, 'lock.waited');
  await heard.until(({ entry }) => entry !== undefined);
  quiet.abort();
  await waiting;

  holding.abort();
  await heard.until(({ entry }) => !entry);
  await server.kill('SIGKILL');
  const late = new AbortController();
  const away = lead({ bucket, name: 'waited', ttlMs: 1_000, owner: 'w', quiet: late.signal }, async () => {
    t.fail('no server, no leader');
  });
  late.abort();
  const began = performance.now();
  await away;
  t.ok(performance.now() - began < 3_000);
});

/** Two processes; the first leads already, the second waits for its chance. */
async function candidates(t: Teardown, name: string, ttlMs = TTL_MS): Promise<[Candidate, Candidate]> {
  const a = startCandidate(t, server, { name, ttlMs, owner: 'a' });
  await a.said('leading');
  const b = startCandidate(t, server, { name, ttlMs, owner: 'b' });
  await b.said('campaigning');
  return [a, b];
}

function lead(options: Omit<LeaderOptions, 'log' | 'lead'>, work: LeaderOptions['lead']): Promise<void> {
  return runAsLeader({ ...options, log: quietLog, lead: work });
}
