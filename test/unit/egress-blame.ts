/** A dead target must not cost the pool its proxies, nor a broken proxy the pool its targets. */
import t from 'tap';
import { decideBlame } from '../../src/policy/egress/blame.ts';
import { createDesk, type Desk } from '../kit/egress-desk.ts';

const MINUTE = 60_000;

t.test('who is to blame', async (t) => {
  for (const [accusers, failures, expected] of [
    [1, 1, 'nobody'],
    [1, 2, 'nobody'],
    [1, 3, 'proxy'],
    [2, 1, 'nobody'],
    [2, 3, 'proxy'],
    [3, 1, 'host'],
    [3, 3, 'host'],
    [0, 1, 'nobody'],
    [0, 3, 'proxy'],
    [9, 1, 'host'],
  ] as const)
    t.equal(decideBlame({ accusers, failures }, 3), expected, `${accusers} accuse, failed ${failures} times`);
});

/** `p0 shop 502`: one request each, a second apart; a number is what the proxy answered instead of the site. */
function play(desk: Desk, story: readonly string[]): void {
  for (const line of story) {
    const [only = '', host = '', outcome = ''] = line.split(' ');
    desk.now += 1_000;
    const via = only === 'direct' ? 'direct' : 'proxy';
    const want = only === 'direct' ? { host, via } : { host, via, only };
    const status = Number(outcome);
    if (status > 0) desk.use([desk.lease(want as object)], 'proxy', { status });
    else desk.use([desk.lease(want as object)], outcome as 'ok');
  }
}

interface Case {
  readonly name: string;
  readonly story: readonly string[];
  readonly disabled?: readonly string[];
  readonly closed?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'proxies that cannot be reached, or refuse us, accuse nobody',
    story: ['p00 a proxy', 'p01 a 407', 'p02 a proxy', 'p03 a proxy'],
  },
  {
    name: 'nor does one that said so before and cannot be reached now',
    story: ['p00 a 502', 'p01 a 502', 'p01 a proxy', 'p02 a 502'],
  },
  {
    name: 'one proxy that fails alone is broken',
    story: ['p00 a 502', 'p00 a 502', 'p00 a 502'],
    disabled: ['p00'],
  },
  {
    name: 'three proxies that fail at one host in a row: the host',
    story: ['p00 a 502', 'p01 a 502', 'p02 a 502'],
    closed: ['a'],
  },
  {
    name: 'those that were disabled on the way to that insight come back',
    story: [
      ...['p00 a 502', 'p00 a 502', 'p00 a 502'],
      ...['p01 a 502', 'p01 a 502', 'p01 a 502'],
      'p02 a 502',
    ],
    closed: ['a'],
  },
  {
    name: 'another egress works for that host: the proxies are broken',
    story: [
      ...['p00 a 502', 'p01 a 502', 'p03 a ok', 'p00 a 502', 'p01 a 502'],
      ...['direct a ok', 'p00 a 502', 'p01 a 502'],
    ],
    disabled: ['p00', 'p01'],
  },
  {
    name: 'an answer of any kind clears the host',
    story: ['p00 a 502', 'p01 a 502', 'p03 a target', 'p02 a 502'],
  },
  {
    name: 'trouble that may be anybody’s clears nobody',
    story: ['p00 a 502', 'p01 a 502', 'p03 a timeout', 'p02 a 502'],
    closed: ['a'],
  },
  {
    name: 'a provider that is down: its proxies fail at different hosts',
    story: ['p00', 'p01', 'p02'].flatMap((id) => [`${id} a 502`, `${id} b 502`, `${id} a 502`]),
    disabled: ['p00', 'p01', 'p02'],
  },
  {
    name: 'a proxy that works elsewhere is a good witness',
    story: ['p00 a 502', 'p00 b ok', 'p01 a 502', 'p01 b ok', 'p02 a 502', 'p02 b ok'],
    closed: ['a'],
  },
  {
    name: 'what it failed elsewhere counts on',
    story: ['p00 b 502', 'p00 a 502', 'p01 a 502', 'p02 a 502', 'p03 a 502', 'p00 c 502'],
    closed: ['a'],
    disabled: ['p00'],
  },
];

t.test('stories', async (t) => {
  for (const { name, story, disabled = [], closed = [] } of CASES) {
    const desk = createDesk();
    desk.addProxies(4);
    play(desk, story);
    const proxies = desk.book.proxies(desk.now).filter(({ state }) => state === 'disabled');
    t.strictSame(
      proxies.map(({ id }) => id),
      disabled,
      `${name}: proxies`,
    );
    const hosts = desk.book.hosts(desk.now).filter(({ state }) => state === 'closed');
    t.strictSame(
      hosts.map(({ host }) => host),
      closed,
      `${name}: hosts`,
    );
  }
});

t.test('a host that nobody reaches rests longer each time, until it answers', async (t) => {
  const desk = createDesk();
  desk.addProxies(10);
  play(desk, ['p00 a 502', 'p01 a 502', 'p02 a 502']);
  t.match(desk.denial({ host: 'a' }), { reason: 'host_closed', retryInMs: MINUTE });
  t.match(desk.book.host('a', desk.now), { closure: { reason: 'unreachable' } });
  t.equal(desk.leases({ host: 'b', count: 20 }).length, 10, 'all of them are welcome elsewhere');
  desk.reload();
  t.match(desk.denial({ host: 'a' }), { reason: 'host_closed' }, 'the next leader knows');
  desk.now += MINUTE;
  play(desk, ['p03 a 502', 'p04 a 502', 'p05 a 502']);
  t.equal(desk.denial({ host: 'a' }).retryInMs, 2 * MINUTE);
  desk.now += 2 * MINUTE;
  play(desk, ['p06 a 502']);
  t.equal(desk.denial({ host: 'a' }).retryInMs, 4 * MINUTE, 'one more is enough now');
  desk.now += 4 * MINUTE;
  play(desk, ['p07 a ok', 'p08 a 502', 'p09 a 502']);
  t.equal(desk.leases({ host: 'a' }).length, 1, 'it has answered: three again');
});

t.test('requests that were under way when it closed blame nobody', async (t) => {
  const desk = createDesk();
  desk.addProxies(8);
  const leases = desk.leases({ host: 'a', count: 24, via: 'proxy' });
  t.equal(leases.length, 8);
  desk.now += 1_000;
  for (const n of [0, 1, 2])
    for (const lease of leases) {
      desk.now += 5;
      const use = { lease: lease.id, n, outcome: 'proxy' as const, status: 502, startedAgoMs: 900, ms: 900 };
      desk.report({ uses: [use] });
    }
  t.match(desk.book.gauges(desk.now), { proxiesByState: { disabled: 0, available: 8 } });
  t.match(desk.book.host('a', desk.now), { state: 'closed' });
  t.ok(desk.denial({ host: 'a' }).retryInMs <= MINUTE, 'and it has closed once');
});

t.test('a host that is silent to everybody makes no proxy rest', async (t) => {
  const troubles = (ids: readonly string[]): string[] =>
    Array.from({ length: 12 }, (_, n) =>
      ids.map((id) => `${id} a ${n % 2 === 0 ? 'timeout' : 'network'}`),
    ).flat();
  const desk = createDesk({ proxyCaps: { perHour: 0, perMinute: 0 } });
  desk.addProxies(4);
  play(desk, troubles(['p00', 'p01', 'p02', 'p03']));
  t.match(desk.book.gauges(desk.now), { proxiesByState: { cooling: 0 } });
  const other = createDesk({ proxyCaps: { perHour: 0, perMinute: 0 } });
  other.addProxies(4);
  play(other, ['p00 a network', 'p01 a network', 'p02 a network', 'p03 a ok']);
  play(other, troubles(['p00']).slice(0, 9));
  t.match(other.book.gauges(other.now), { proxiesByState: { cooling: 1 } }, 'others get through');
});
