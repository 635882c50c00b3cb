/** What actors count: bounded, whatever comes, and nothing of it lost. */
import t from 'tap';
import { ANSWER_CLASSES, NO_TALLY, type HostSums, type TallySums } from '../../src/domain/tally.ts';
import { addTallies, countDurations, HOSTS_KEPT, nextTally, sumNamed } from '../../src/policy/tally.ts';
import { isLifeOver } from '../../src/policy/tally-over.ts';
import { createTally, type Tally } from '../../src/telemetry/tally.ts';
import { encode } from '../../src/wire/codec.ts';
import { decodeLife, encodeLife } from '../../src/wire/tally-record.ts';

function fetch(tally: Tally, host: string, status = 200): void {
  tally.fetched('ok', { ms: 20, bytes: 100, host, status, blocked: status === 403, isPage: true });
}

function taken(tally: Tally): TallySums {
  const sums = tally.take();
  if (!sums) throw new Error('nothing was counted');
  return sums;
}

function requestsOf({ requests }: HostSums): number {
  return requests.reduce((sum, count) => sum + count, 0);
}

function allRequests({ hosts, otherHosts }: TallySums): number {
  return [...hosts.values()].reduce((sum, host) => sum + requestsOf(host), requestsOf(otherHosts));
}

t.test('whoever stores it hears of the first count after each taking out', async (t) => {
  const tally = createTally();
  let heard = 0;
  tally.onCount(() => (heard += 1));
  tally.retried('NETWORK');
  fetch(tally, 'a.example');
  t.equal(heard, 1, 'the rest goes with it');
  tally.take();
  t.equal(heard, 1);
  tally.attempted(5);
  t.equal(heard, 2);
});

t.test('what is counted is taken out once', async (t) => {
  const tally = createTally();
  t.equal(tally.take(), undefined, 'who counts nothing has nothing to store');
  tally.started('worker');
  tally.attempted(30);
  tally.attempted(3_000_000);
  tally.waited(-5); // two clocks
  tally.retried('NETWORK');
  tally.deferred('throttled');
  tally.refused(3);
  const sums = taken(tally);
  t.match(sums, {
    starts: { worker: 1 },
    retried: { NETWORK: 1 },
    deferred: { throttled: 1 },
    refused: 3,
    task: { seconds: 3_000.03 },
    wait: { seconds: 0 },
  });
  t.equal(sums.task.counts[3], 1, '30 ms are between 25 and 50');
  t.equal(sums.task.counts.at(-1), 1, 'longer than all bounds');
  t.equal(countDurations(sums.wait), 1);
  t.equal(tally.take(), undefined);
  tally.retried('NETWORK');
  t.equal(taken(tally).retried['NETWORK'], 1, 'from nothing again');
});

t.test('hosts by what they answer; a redirect is a request but no page', async (t) => {
  const tally = createTally();
  for (const status of [200, 301, 404, 503, 0, 99]) fetch(tally, 'a.test', status);
  fetch(tally, 'a.test', 403);
  tally.fetched('ok', { ms: 5, bytes: 7, host: 'a.test', status: 302, blocked: false, isPage: false });
  const { hosts, pages, bytes, page } = taken(tally);
  const host = hosts.get('a.test');
  t.same(host?.requests, [1, 2, 2, 1, 2]);
  t.equal(ANSWER_CLASSES.length, host?.requests.length);
  t.equal(host?.blocks, 1);
  t.equal(sumNamed(pages), 7);
  t.equal(countDurations(page), 7);
  t.equal(bytes, 707);
});

t.test('ten thousand hosts: few lines, the busiest ones, and the sum is exact', async (t) => {
  let stored = NO_TALLY;
  const tally = createTally();
  for (let round = 0; round < 20; round += 1) {
    for (let host = 0; host < 10_000; host += 1) fetch(tally, `h${host}.test`);
    for (let again = 0; again < 50; again += 1) fetch(tally, `h${again % 5}.test`);
    const fresh = taken(tally);
    t.ok(fresh.hosts.size <= 1_000, 'bounded also between two records');
    stored = nextTally(stored, fresh);
    t.ok(stored.hosts.size <= HOSTS_KEPT);
  }
  t.equal(allRequests(stored), 20 * 10_050);
  for (const busy of [0, 1, 2, 3, 4]) t.ok(stored.hosts.has(`h${busy}.test`), `h${busy} is told apart`);
  t.ok(encodeLife(lifeOf(stored)).length < 12_000, 'a record stays small');
});

t.test('who was busy once makes room for who is busy now', async (t) => {
  const tally = createTally();
  for (let n = 0; n < 500; n += 1) fetch(tally, 'old.test');
  let stored = nextTally(NO_TALLY, taken(tally));
  for (let round = 0; round < 100; round += 1) {
    for (let host = 0; host < 150; host += 1) for (let n = 0; n < 3; n += 1) fetch(tally, `new${host}.test`);
    stored = nextTally(stored, taken(tally));
  }
  t.notOk(stored.hosts.has('old.test'));
  t.equal(allRequests(stored), 500 + 100 * 450);
});

t.test('sums of many lives are the same in any order', async (t) => {
  const lives = Array.from({ length: 20 }, (_, n) => {
    const tally = createTally();
    for (let k = 0; k <= n; k += 1) {
      tally.retried(k % 2 === 0 ? 'NETWORK' : 'TARGET');
      tally.attempted(k * 100);
      fetch(tally, `h${k}.test`, k % 3 === 0 ? 500 : 200);
    }
    return taken(tally);
  });
  const there = lives.reduce((sum, life) => addTallies(sum, life, 10), NO_TALLY);
  const back = lives.toReversed().reduce((sum, life) => addTallies(sum, life, 10), NO_TALLY);
  for (const sum of [there, back]) {
    t.equal(sumNamed(sum.retried), 210);
    t.equal(countDurations(sum.task), 210);
    t.equal(allRequests(sum), 210);
    t.equal(sum.hosts.size, 10);
  }
});

function lifeOf(sums: TallySums): Parameters<typeof encodeLife>[0] {
  return { role: 'worker', actor: 'w1', startedAt: 1, serial: 1, closed: false, sums };
}

t.test('a record is read as it was written; other bounds still count', async (t) => {
  const tally = createTally();
  tally.attempted(10);
  fetch(tally, 'a.test');
  const sums = taken(tally);
  t.same(decodeLife(encodeLife(lifeOf(sums))), lifeOf(sums));
  const other = { ...sums, hosts: [], task: { counts: [4, 5], seconds: 2 } };
  const read = decodeLife(encode({ ...lifeOf(sums), sums: other }));
  t.equal(countDurations(read.sums.task), 9);
  t.equal(read.sums.task.seconds, 2);
  t.throws(() => decodeLife(encode({ role: 'worker' })), { code: 'INVALID' });
  for (const host of ['a.test', ['a.test', -1], ['a.test', 'many'], [1, 2]])
    t.throws(() => decodeLife(encode({ ...lifeOf(sums), sums: { ...sums, hosts: [host] } })), {
      code: 'INVALID',
    });
});

t.test('a life is over when its actor is, and not before its heartbeat can have been heard', async (t) => {
  const life = { startedAt: 100, closed: false, storedAt: 1_000 };
  const beat = { startedAt: 100, status: 'running' } as const;
  t.notOk(isLifeOver(life, beat, 1_000_000), 'idle for long, and alive');
  t.ok(isLifeOver({ ...life, closed: true }, beat, 1_000), 'by its own word');
  t.ok(isLifeOver(life, undefined, 10_000), 'its heartbeat expired');
  t.notOk(isLifeOver(life, undefined, 1_500), 'not heard of yet');
  t.ok(isLifeOver(life, { ...beat, startedAt: 200 }, 10_000), 'somebody else has the id');
  t.ok(isLifeOver(life, { ...beat, status: 'stopped' }, 10_000));
});
