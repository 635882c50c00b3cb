/** The lines of hosts on the page of the cluster: few, only growing, and right in sum. */
import t from 'tap';
import { NO_HOST, NO_TALLY, type HostSums, type TallySums } from '../../src/domain/tally.ts';
import { addHost, addTallies, nextTally } from '../../src/policy/tally.ts';
import { createShownHosts, OTHER_HOSTS } from '../../src/policy/shown-hosts.ts';
import { createTally } from '../../src/telemetry/tally.ts';
import { createRandom } from '../kit/random.ts';

function requestsOf({ requests }: HostSums): number {
  return requests.reduce((sum, count) => sum + count, 0);
}

function sumOf(hosts: Readonly<Record<string, number>>): TallySums {
  const tally = createTally();
  for (const [host, count] of Object.entries(hosts))
    for (let n = 0; n < count; n += 1)
      tally.fetched('ok', { ms: 10, bytes: 1, host, status: 200, blocked: false, isPage: true });
  return tally.take() ?? NO_TALLY;
}

function linesOf(lines: ReadonlyMap<string, HostSums>): Record<string, number> {
  return Object.fromEntries([...lines].map(([host, sums]) => [host, requestsOf(sums)]));
}

t.test('the busiest have a line, the others one together', async (t) => {
  const shown = createShownHosts(2);
  const first = sumOf({ a: 5, b: 9, c: 1, other: 3 });
  t.same(linesOf(shown.update(first, 0)), { b: 9, a: 5, [OTHER_HOSTS]: 4 });
  const second = addTallies(first, sumOf({ a: 1, c: 100 }));
  t.same(linesOf(shown.update(second, 1_000)), { b: 9, a: 6, [OTHER_HOSTS]: 104 }, 'a line stays');
});

t.test('who is silent for long makes room; nothing jumps', async (t) => {
  const shown = createShownHosts(1);
  const first = sumOf({ a: 5, b: 2 });
  shown.update(first, 0);
  const second = addTallies(first, sumOf({ b: 3 }));
  t.same(linesOf(shown.update(second, 700_000)), { b: 3, [OTHER_HOSTS]: 2 });
  const third = addTallies(second, sumOf({ a: 4, b: 1 }));
  t.same(linesOf(shown.update(third, 701_000)), { b: 4, [OTHER_HOSTS]: 6 });
});

t.test(
  'whatever moves between hosts and others in the records, no line goes down, and no request is told twice',
  async (t) => {
    const random = createRandom(7);
    const max = 5;
    for (let game = 0; game < 20; game += 1) {
      const shown = createShownHosts(max);
      let lives: TallySums[] = [NO_TALLY, NO_TALLY, NO_TALLY];
      let before = new Map<string, HostSums>();
      let sent = 0;
      for (let step = 0; step < 60; step += 1) {
        lives = lives.map((life) => {
          const hosts: Record<string, number> = {};
          for (let n = 0; n < 6; n += 1) {
            const host = `h${Math.floor(random.next() * random.next() * 40)}`;
            hosts[host] = (hosts[host] ?? 0) + 1;
            sent += 1;
          }
          // Records that hold few hosts, so that they come and go all the time.
          return addTallies(nextTally(life, NO_TALLY), sumOf(hosts), 8);
        });
        const sum = lives.reduce((all, life) => addTallies(all, life, 15), NO_TALLY);
        const lines = shown.update(sum, step * 1_000);
        t.ok(lines.size <= max + 1);
        for (const [host, sums] of before) {
          const now = lines.get(host);
          if (!now) continue;
          if (requestsOf(now) < requestsOf(sums) || now.seconds < sums.seconds) t.fail(`${host} went down`);
        }
        const all = [...lines.values()].reduce((a, b) => addHost(a, b), NO_HOST);
        t.equal(requestsOf(all), sent);
        before = new Map(lines);
      }
    }
  },
);
