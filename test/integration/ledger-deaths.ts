/**
 * Writers of the ledger that die or sleep after a change is stored and before it is counted. A writer that died is one
 * whose counters do not reach the server; a writer that slept is one whose counters reach it late.
 */
import t from 'tap';
import type { LedgerRecord, Outcome, TaskSpec } from '../../src/domain/task.ts';
import { cancelLeft } from '../../src/nats/cancel-left.ts';
import type { Connection } from '../../src/nats/connect.ts';
import type { ChangeOutcome } from '../../src/nats/commit-lane.ts';
import { eraseRun } from '../../src/nats/erase-run.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import type { LedgerWriter } from '../../src/nats/ledger.ts';
import { countTasks } from '../../src/policy/counters.ts';
import { createNames } from '../../src/wire/names.ts';
import { quietLog, startNatsServer, type Teardown } from '../kit/nats-server.ts';
import { makeStreams } from '../kit/short-leases.ts';
import { acceptOne } from '../kit/accept-one.ts';

const names = createNames('trawl');
const server = await startNatsServer(t);
const connection = await server.connect();
await makeStreams(connection);
const reader = createLedgerReader(connection, names);
const heir = createWriter(t, connection);

type Queued = Extract<LedgerRecord, { state: 'queued' }>;

const specOf = (run: string, id: string): TaskSpec => ({
  id,
  run,
  scraper: 'shop',
  priority: 0,
  createdAt: 1,
});
const queued = (run: string, id: string): Queued => ({
  state: 'queued',
  spec: specOf(run, id),
  at: 1,
  faults: [],
});
const done = (run: string, id: string): Outcome => ({
  state: 'done',
  spec: specOf(run, id),
  at: 2,
  faults: [],
  worker: 'w',
  startedAt: 1,
  result: { items: [1], pages: 1, bytes: 2 },
});

function createWriter(t: Teardown, to: Connection): LedgerWriter {
  const options = {
    names,
    durability: 'interval',
    batchMax: 500,
    ackTimeoutMs: 60_000,
    log: quietLog,
  } as const;
  const writer = createLedgerWriter(to, { ...options, lanes: 1 });
  t.teardown(() => writer.close());
  return writer;
}

interface Doomed {
  readonly writer: LedgerWriter;
  /** From now on its counters do not leave it. */
  fallAsleep(): void;
  /** Resolves when it has tried to count. */
  readonly tried: Promise<void>;
  /** The next of its counters is refused. */
  failNext(): void;
  /** Its counters go on their way. */
  wake(): void;
}

async function createDoomed(t: Teardown): Promise<Doomed> {
  const own = await server.connect('doomed');
  const held: (() => void)[] = [];
  let asleep = false;
  let failing = false;
  let attempted = (): void => undefined;
  const tried = new Promise<void>((resolve) => (attempted = resolve));
  const writeFrames: Connection['writeFrames'] = (bytes, messages) => {
    const reply = /^HPUB trawl\.count\.\S+ (\S+) /.exec(Buffer.from(bytes).toString('latin1'))?.[1];
    if (reply === undefined) own.writeFrames(bytes, messages);
    else if (failing) {
      failing = false;
      own.nc.publish(reply, JSON.stringify({ error: { err_code: 10_077, description: 'no room' } }));
    } else if (asleep) {
      held.push(() => own.writeFrames(bytes, messages));
      attempted();
    } else own.writeFrames(bytes, messages);
  };
  return {
    writer: createWriter(t, { ...own, writeFrames }),
    tried,
    fallAsleep: () => void (asleep = true),
    failNext: () => void (failing = true),
    wake() {
      asleep = false;
      for (const send of held.splice(0)) send();
    },
  };
}

const seqOf = (outcome: ChangeOutcome): number => (outcome.kind === 'stored' ? outcome.seq : -1);

/** A task that was accepted and settled as done; the settlement is stored, and not counted. */
async function leaveUncounted(
  t: Teardown,
  run: string,
): Promise<{ doomed: Doomed; acceptSeq: number; settled: Promise<ChangeOutcome> }> {
  const doomed = await createDoomed(t);
  const acceptSeq = seqOf(await acceptOne(doomed.writer, queued(run, 'a')));
  doomed.fallAsleep();
  const settled = doomed.writer.settle(done(run, 'a'), acceptSeq);
  await doomed.tried;
  return { doomed, acceptSeq, settled };
}

t.test('it dies after a settlement: whoever gets the task counts it, once', async (t) => {
  const { acceptSeq } = await leaveUncounted(t, 'settled');
  t.match(await reader.read('settled', 'a'), { record: { state: 'done' }, by: { group: 2 } });
  t.match(await reader.counts('settled'), { accepted: 1, done: 0 }, 'not counted yet');
  const others = await Promise.all(
    Array.from({ length: 5 }, () => heir.settle(done('settled', 'a'), acceptSeq)),
  );
  t.ok(others.every(({ kind }) => kind === 'refused'));
  t.match(await reader.counts('settled'), { accepted: 1, done: 1, items: 1 });
});

t.test('many find it at the same time: one of them counts it', async (t) => {
  const { acceptSeq } = await leaveUncounted(t, 'crowd');
  const crowd = Array.from({ length: 12 }, () => createWriter(t, connection));
  await Promise.all(crowd.map((writer) => writer.settle(done('crowd', 'a'), acceptSeq)));
  t.match(await reader.counts('crowd'), { accepted: 1, done: 1, items: 1 });
});

t.test('it only slept: what others have counted for it meanwhile is not counted again', async (t) => {
  const { doomed, acceptSeq, settled } = await leaveUncounted(t, 'slept');
  t.match(await heir.settle(done('slept', 'a'), acceptSeq), { kind: 'refused' });
  doomed.wake();
  t.match(await settled, { kind: 'stored' }, 'it is told what is so');
  t.match(await reader.counts('slept'), { accepted: 1, done: 1, items: 1 });
  const next = await acceptOne(doomed.writer, queued('slept', 'b'));
  await doomed.writer.settle(done('slept', 'b'), seqOf(next));
  t.match(await reader.counts('slept'), { accepted: 2, done: 2, items: 2 }, 'and goes on');
});

t.test('it only slept, and nobody came: it counts itself', async (t) => {
  const { doomed, settled } = await leaveUncounted(t, 'alone');
  doomed.wake();
  t.match(await settled, { kind: 'stored' });
  t.match(await reader.counts('alone'), { accepted: 1, done: 1, items: 1 });
});

t.test('it dies after an acceptance: the settlement of the task does not cover that up', async (t) => {
  const doomed = await createDoomed(t);
  doomed.fallAsleep();
  void acceptOne(doomed.writer, queued('accepted', 'a'));
  await doomed.tried;
  t.match(await reader.counts('accepted'), { accepted: 0 });
  t.match(await acceptOne(heir, queued('accepted', 'a')), { kind: 'refused' });
  const found = await reader.readMany('accepted', ['a']);
  await heir.ensureCounted(found.values());
  await heir.ensureCounted(found.values());
  await heir.settle(done('accepted', 'a'), found.get('a')?.seq ?? 0);
  t.match(await reader.counts('accepted'), { accepted: 1, done: 1 });
});

t.test('its run is cancelled, and the task comes to nobody any more', async (t) => {
  const { doomed, settled } = await leaveUncounted(t, 'cancelled');
  const half = await createDoomed(t);
  half.fallAsleep();
  const accepted = acceptOne(half.writer, queued('cancelled', 'b'));
  await half.tried;
  const over = new AbortController().signal;
  t.equal(await cancelLeft(connection, { names, writer: heir }, { run: 'cancelled', over }), 1);
  t.same(countTasks(await reader.counts('cancelled')), {
    accepted: 2,
    done: 1,
    dead: 0,
    cancelled: 1,
    open: 0,
  });
  doomed.wake();
  half.wake();
  t.match(await settled, { kind: 'stored' });
  t.match(await accepted, { kind: 'stored' });
  t.match(await reader.counts('cancelled'), { accepted: 2, done: 1, cancelled: 1 }, 'also when it wakes');
});

t.test('its run has gone when it wakes: it does not bring it back', async (t) => {
  const { doomed, acceptSeq, settled } = await leaveUncounted(t, 'gone');
  await heir.settle(done('gone', 'a'), acceptSeq);
  await eraseRun(connection, { names, bucket: openBucket(connection, names.bucket('cluster')) }, 'gone');
  doomed.wake();
  await settled;
  t.match(await reader.counts('gone'), { accepted: 0, done: 0 });
  const { state } = await connection.jsm.streams.info(names.stream('LEDGER'), {
    subjects_filter: names.count('gone', '*'),
  });
  t.equal(state.subjects, undefined, 'not a counter is left');
});

t.test('the counters cannot be stored: nobody is told that the change is', async (t) => {
  const doomed = await createDoomed(t);
  const acceptSeq = seqOf(await acceptOne(doomed.writer, queued('unstored', 'a')));
  doomed.fallAsleep();
  const settled = doomed.writer.settle(done('unstored', 'a'), acceptSeq);
  await doomed.tried;
  doomed.writer.close();
  t.match(await settled, { kind: 'failed', reason: /not counted/ });
  t.match(await heir.settle(done('unstored', 'a'), acceptSeq), { kind: 'refused' });
  t.match(await reader.counts('unstored'), { accepted: 1, done: 1 });
});

t.test('a group that it could not count is not covered up by the next', async (t) => {
  const doomed = await createDoomed(t);
  const acceptSeq = seqOf(await acceptOne(doomed.writer, queued('skipped', 'a')));
  doomed.failNext();
  t.match(await doomed.writer.settle(done('skipped', 'a'), acceptSeq), { kind: 'failed', reason: /no room/ });
  t.match(await acceptOne(doomed.writer, queued('skipped', 'b')), { kind: 'stored' });
  t.match(await reader.counts('skipped'), { accepted: 2, done: 0 });
  t.match(await heir.settle(done('skipped', 'a'), acceptSeq), { kind: 'refused' });
  t.match(await reader.counts('skipped'), { accepted: 2, done: 1 });
});
