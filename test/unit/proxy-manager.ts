import t from 'tap';
import { createAlarm } from '../../src/actors/proxy-manager/alarm.ts';
import { describeNews } from '../../src/actors/proxy-manager/news.ts';
import type { Counter } from '../../src/actors/proxy-manager/ports.ts';
import { createProber } from '../../src/actors/proxy-manager/prober.ts';
import { createRounds } from '../../src/actors/proxy-manager/rounds.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { EgressBook } from '../../src/policy/egress/book.ts';
import type { EgressEvent, EgressWrite } from '../../src/policy/egress/records.ts';
import type { LeaseView } from '../../src/policy/egress/views.ts';
import type { AcquireRequest, EgressReport } from '../../src/wire/egress.ts';
import { quietLog } from '../kit/nats-server.ts';

t.test('an alarm wakes its sleeper, and remembers a ring that nobody heard', async (t) => {
  const alarm = createAlarm();
  alarm.ring();
  await alarm.wait(60_000);
  const slept = alarm.wait(60_000);
  alarm.ring();
  await slept;
  alarm.ring();
  await alarm.wait(60_000);
  await alarm.wait(1);
  t.pass();
});

t.test('what every worker must hear', async (t) => {
  const lease = (id: string, egress: string): LeaseView => ({ id, egress }) as LeaseView;
  const leases = (): LeaseView[] => [lease('l1', 'p1'), lease('l2', 'p2'), lease('l3', 'p1')];
  const event = (fields: object): EgressEvent => ({ reason: 'r', at: 1, ...fields }) as EgressEvent;
  const tell = (...events: EgressEvent[]): unknown => describeNews(events, { leases, now: 1_000 });

  t.equal(tell(), undefined);
  t.equal(tell(event({ kind: 'proxy', id: 'p1', to: 'rate_limited' })), undefined);
  t.equal(tell(event({ kind: 'host', host: 'a', egress: 'p1', to: 'closed', until: 5_000 })), undefined);
  t.same(
    tell(event({ kind: 'proxy', id: 'p1', to: 'removed' }), event({ kind: 'proxy', id: 'p3', to: 'frozen' })),
    {
      ended: ['l1', 'l3'],
      closed: [],
    },
  );
  t.same(
    tell(
      event({ kind: 'host', host: 'a', to: 'closed', until: 5_000 }),
      event({ kind: 'host', host: 'b', to: 'closed' }),
    ),
    {
      ended: [],
      closed: [
        { host: 'a', forMs: 4_000 },
        { host: 'b', forMs: 3_600_000 },
      ],
    },
  );
  t.same(tell(event({ kind: 'host', host: 'a', to: 'open' })), {
    ended: [],
    closed: [{ host: 'a', forMs: 0 }],
  });
});

/** Rounds over a book that grants whatever is asked, with a store that the test holds in its hand. */
function startRounds(): {
  counter: Counter;
  commits: { writes: readonly unknown[]; done(): void; fail(error: Error): void }[];
  ended: Promise<unknown>;
  stop: () => void;
} {
  const writes: EgressWrite[] = [];
  const book = {
    tick: () => undefined,
    takeEvents: () => [],
    takeWrites: () => writes.splice(0),
    acquire: ({ wants }: AcquireRequest) => {
      writes.push({ kind: 'remove', key: `lease.${wants.length}` });
      return { answers: wants.map(() => ({ kind: 'granted', leases: [], robots: { state: 'ignored' } })) };
    },
    report: () => {
      throw new TypeError('a bug');
    },
  } as unknown as EgressBook;
  const commits: ReturnType<typeof startRounds>['commits'] = [];
  const over = new AbortController();
  const rounds = createRounds({
    book,
    commit: (taken) =>
      new Promise((resolve, reject) => {
        commits.push({ writes: taken, done: resolve, fail: reject });
      }),
    address: (reply) => reply,
    now: () => 1_000,
    random: () => 0.5,
    meters: {
      granted: () => undefined,
      denied: () => undefined,
      round: () => undefined,
      readWith: () => undefined,
    },
    announce: () => undefined,
    broadcast: () => undefined,
    log: quietLog,
  });
  const ended = rounds.run(over.signal).then(
    () => 'over',
    (error: unknown) => error,
  );
  return { counter: rounds.counter, commits, ended, stop: () => over.abort() };
}

const request = (wants: number): AcquireRequest =>
  ({
    worker: 'w',
    machine: 'm',
    wants: Array.from({ length: wants }, () => ({})),
  }) as unknown as AcquireRequest;
const turn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 5));

t.test('nothing is answered before it is stored; what comes meanwhile shares the next round', async (t) => {
  const { counter, commits, ended, stop } = startRounds();
  const told: number[] = [];
  const ask = (wants: number): void => void counter.acquire(request(wants)).then(() => told.push(wants));
  ask(1);
  await turn();
  ask(2);
  ask(3);
  await turn();
  t.equal(commits.length, 1);
  t.same(told, [], 'stored it is not yet');
  commits[0]?.done();
  await turn();
  t.same(told, [1]);
  t.same(commits[1]?.writes.length, 2);
  commits[1]?.done();
  await turn();
  t.same(told, [1, 2, 3]);
  stop();
  t.equal(await ended, 'over');
  await t.rejects(counter.acquire(request(1)), { code: 'UNAVAILABLE' });
});

t.test('a round that cannot be stored answers nobody, and ends the term', async (t) => {
  const { counter, commits, ended } = startRounds();
  const first = counter.acquire(request(1));
  await turn();
  const waiting = counter.acquire(request(2));
  commits[0]?.fail(new Failure('CONFLICT', 'deposed'));
  await t.rejects(first, { code: 'UNAVAILABLE' });
  await t.rejects(waiting, { code: 'UNAVAILABLE' });
  t.match(await ended, { code: 'CONFLICT' });
});

t.test('a question that cannot be decided harms nobody but who asked it', async (t) => {
  const { counter, commits, stop } = startRounds();
  const broken = counter.report({} as EgressReport);
  const refused = counter.change(() => {
    throw new Failure('INVALID', 'no such thing');
  });
  const good = counter.acquire(request(1));
  await t.rejects(broken, { code: 'INTERNAL' });
  await t.rejects(refused, { code: 'INVALID' });
  commits[0]?.done();
  t.match(await good, { answers: [{ kind: 'granted' }] });
  stop();
});

t.test('too many wait: they are told to come again, none is held', async (t) => {
  const { counter, commits, stop } = startRounds();
  const many = Array.from({ length: 9_000 }, () => counter.acquire(request(1)));
  const [late, refused] = [counter.acquire(request(2)), counter.report({} as EgressReport)];
  await t.rejects(refused, { code: 'THROTTLED' });
  const busy = { kind: 'none', reason: 'host_busy', retryInMs: 1_500 };
  t.same(await late, { answers: [busy, busy] });
  let answered = 0;
  void Promise.all(many).then((all) => (answered = all.length));
  for (let at = 0; answered === 0;) {
    for (; at < commits.length; at += 1) commits[at]?.done();
    await turn();
  }
  t.equal(answered, 9_000);
  stop();
});

t.test('probes: a bounded number at once, each told, none twice at a time', async (t) => {
  let due = ['a', 'b', 'c', 'a'];
  let most = 0;
  let underWay = 0;
  const probed: string[] = [];
  const finish: (() => void)[] = [];
  const book = {
    duesForProbe: () => due.splice(0),
    proxyRecord: (id: string) => (id === 'c' ? undefined : { id }),
    probed: (id: string) => probed.push(id),
  } as unknown as EgressBook;
  const counter = {
    look: <T>(read: (held: EgressBook, now: number) => T) => read(book, 1),
    change: async <T>(apply: (held: EgressBook, now: number) => T) => apply(book, 1),
  } as unknown as Counter;
  const prober = createProber({
    counter,
    limits: { intervalMs: 1_000, concurrency: 1 },
    probe: async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise<void>((resolve) => finish.push(resolve));
      underWay -= 1;
      return { lastCheck: 1, isHealthy: true };
    },
  });
  const over = new AbortController();
  const run = prober.run(over.signal);
  prober.look();
  await turn();
  due = ['a'];
  prober.look(); // the book names it again while its probe is under way
  finish.shift()?.();
  for (let left = 100; finish.length === 0 && left > 0; left -= 1) await turn();
  finish.shift()?.();
  for (let left = 100; probed.length < 2 && left > 0; left -= 1) await turn();
  t.same(probed, ['a', 'b'], 'one that is gone is not asked');
  t.equal(most, 1);
  over.abort();
  await run;
});
