import t from 'tap';
import { partitionHosts, PARTITIONINGS, pickShard } from '../../src/policy/partition.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const hosts = Array.from({ length: 2_000 }, (_, index) => ({ host: `host-${index}.example`, weight: 1 }));

function loads(
  assignment: ReadonlyMap<string, number>,
  shards: number,
  weight: (host: string) => number = () => 1,
): number[] {
  const result = new Array<number>(shards).fill(0);
  for (const [host, shard] of assignment) result[shard] = (result[shard] ?? 0) + weight(host);
  return result;
}

t.test('every way gives each host one shard, the same each time', async (t) => {
  for (const by of PARTITIONINGS) {
    const first = partitionHosts(hosts, 5, by);
    t.equal(first.size, hosts.length, by);
    t.same(
      partitionHosts([...hosts].reverse(), 5, by),
      first,
      `${by}: the order of the list does not matter`,
    );
    t.ok(
      [...first.values()].every((shard) => Number.isSafeInteger(shard) && shard >= 0 && shard < 5),
      by,
    );
    t.ok(
      [...partitionHosts(hosts, 1, by).values()].every((shard) => shard === 0),
      by,
    );
  }
  t.throws(() => partitionHosts(hosts, 0));
});

t.test(
  'a resize from 5 to 6 moves less than a quarter of the hosts, and only to the new shard',
  async (t) => {
    for (const by of ['rendezvous', 'domain'] as const) {
      const before = partitionHosts(hosts, 5, by);
      const after = partitionHosts(hosts, 6, by);
      const moved = hosts.filter(({ host }) => before.get(host) !== after.get(host));
      t.ok(moved.length < hosts.length / 4, `${by}: ${moved.length} of ${hosts.length}`);
      t.ok(
        moved.every(({ host }) => after.get(host) === 5),
        'nothing moves between the old ones',
      );
    }
  },
);

t.test('parts are even', async (t) => {
  const even = hosts.length / 5;
  for (const load of loads(partitionHosts(hosts, 5), 5)) t.ok(Math.abs(load - even) < even * 0.2, `${load}`);
  t.same(loads(partitionHosts(hosts, 5, 'round_robin'), 5), [even, even, even, even, even]);
});

t.test('hosts of one site stay together', async (t) => {
  const assignment = partitionHosts(
    ['www.a.co.uk', 'shop.a.co.uk', 'a.co.uk', 'www.b.co.uk', '10.0.0.1:8080'].map((host) => ({ host })),
    64,
    'domain',
  );
  t.equal(assignment.get('www.a.co.uk'), assignment.get('shop.a.co.uk'));
  t.equal(assignment.get('www.a.co.uk'), pickShard('a.co.uk', 64));
  t.not(assignment.get('www.a.co.uk'), assignment.get('www.b.co.uk'));
});

t.test('balanced by weight: no shard has more than a third over the mean and one host', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 50; round += 1) {
    const shards = random.int(1, 8);
    const weighted = Array.from({ length: random.int(1, 100) }, (_, index) => ({
      host: `h${index}`,
      weight: random.int(0, 1_000),
    }));
    const weights = new Map(weighted.map(({ host, weight }) => [host, weight]));
    const result = loads(
      partitionHosts(weighted, shards, 'balanced'),
      shards,
      (host) => weights.get(host) ?? 0,
    );
    const total = result.reduce((sum, load) => sum + load, 0);
    const heaviest = Math.max(...weights.values());
    t.ok(
      Math.max(...result) <= Math.max(heaviest, (4 / 3) * (total / shards) + heaviest / 3 + 1),
      result.join(' '),
    );
  }
});
