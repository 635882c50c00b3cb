import t from 'tap';
import { openBucket } from '../../src/nats/bucket.ts';
import { decode } from '../../src/wire/codec.ts';
import type { LeaseGrant } from '../../src/wire/egress.ts';
import { createSeal } from '../../src/wire/sealed.ts';
import { Secret } from '../../src/domain/secret.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { names, openEgressField, reportOf, want } from '../kit/proxy-managers.ts';

interface Listed {
  readonly proxies: readonly {
    readonly id: string;
    readonly state: string;
    readonly reason: string;
    readonly usedHour: number;
    readonly tags: readonly string[];
  }[];
  readonly next?: string;
}

const PASSWORD = 'hunter2-canary';

t.test('proxies are added, listed, frozen, reset and removed, by requests', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  await t.rejects(field.call('proxies.ls'), { code: 'UNAVAILABLE' }, 'no responders while nobody leads');
  t.equal(await field.client.acquire({ worker: 'w', machine: 'm', wants: [want()] }), undefined);
  const manager = await field.start('pm1');

  const added = await field.call<{ proxies: { id: string; known: boolean }[]; problems: unknown[] }>(
    'proxies.add',
    {
      proxies: [
        { url: `http://customer:${PASSWORD}@127.0.0.1:8001`, id: 'a', tags: ['dc'], perHour: 3 },
        { url: `127.0.0.1:8002:customer:${PASSWORD}`, id: 'b' },
        { url: `ftp://customer:${PASSWORD}@127.0.0.1:1`, id: 'c' },
        { url: 'socks5://127.0.0.1:9050' },
      ],
    },
  );
  t.match(added.proxies.slice(0, 2), [
    { id: 'a', known: false },
    { id: 'b', known: false },
  ]);
  t.match(added.problems, [{ index: 2, reason: /must start with/ }]);
  t.match(added.proxies[2]?.id, /^127-0-0-1-9050-/);

  const { proxies } = await field.call<Listed>('proxies.ls');
  t.equal(proxies.length, 3);
  t.match(proxies[1], {
    id: 'a',
    state: 'available',
    tags: ['dc'],
    endpoint: 'http://127.0.0.1:8001',
    caps: { perHour: 3 },
  });
  t.same(
    (await field.call<Listed>('proxies.ls', { tag: 'dc' })).proxies.map(({ id }) => id),
    ['a'],
  );
  t.equal((await field.call<Listed>('proxies.ls', { limit: 2 })).next, 'a');
  const bare = await field.connection.nc.request(names.service('proxies.ls'), '');
  t.equal((decode(bare.data) as Listed).proxies.length, 3, "nats req trawl.ctl.proxies.ls ''");

  t.same(await field.call('proxies.freeze', { ids: ['a', 'nobody'], reason: 'maintenance' }), {
    changed: ['a'],
    unknown: ['nobody'],
  });
  t.match(await field.call('proxies.show', { id: 'a' }), { state: 'frozen', reason: /maintenance/ });
  t.match(await field.call('proxies.reset', { ids: ['a'] }), { changed: ['a'] });
  t.match(await field.call('proxies.show', { id: 'a' }), { state: 'available' });
  await t.rejects(field.call('proxies.show', { id: 'nobody' }), {
    code: 'INVALID',
    message: /no proxy nobody/,
  });
  await t.rejects(field.call('proxies.rm', { ids: ['nobody'] }), { code: 'INVALID' });
  await t.rejects(field.call('proxies.add', { url: `http://u:${PASSWORD}@host` }), {
    code: 'INVALID',
    message: /^(?!.*canary)/,
  });
  t.match(manager.news, [
    { about: 'leader', kind: 'elected' },
    ...['a', 'b'].map((id) => ({ about: 'proxy', kind: 'available', facts: { id } })),
  ]);

  await field.call('proxies.rm', { ids: ['b', added.proxies[2]?.id ?? ''] });
  t.same(
    (await field.call<Listed>('proxies.ls')).proxies.map(({ id }) => id),
    ['a'],
  );

  // Another one leads: it knows what was stored.
  await manager.stop();
  await t.rejects(field.call('proxies.ls'), { code: 'UNAVAILABLE' });
  const second = await field.start('pm2');
  t.same(
    (await field.call<Listed>('proxies.ls')).proxies.map(({ id }) => id),
    ['a'],
  );
  await second.stop();
});

t.test('a grant is stored before it is answered, and its address is sealed', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  const manager = await field.start('pm1');
  await field.call('proxies.add', { url: `http://customer:${PASSWORD}@127.0.0.1:8001`, id: 'a', perHour: 3 });

  const reply = await field.acquire([want({ count: 10 })]);
  const [answer] = reply.answers;
  if (answer?.kind !== 'granted') throw new Error('nothing was granted');
  const [lease] = answer.leases as [LeaseGrant];
  t.match(lease, { egress: 'a', permits: 3 });
  t.notMatch(JSON.stringify(reply), PASSWORD);
  const seal = createSeal(new Secret('test-key'));
  t.equal(seal.open(lease.url ?? '', 'proxy.a'), `http://customer:${PASSWORD}@127.0.0.1:8001`);
  const bucket = openBucket(field.connection, 'egress');
  t.match(decode((await bucket.get(`lease.${lease.id}`))?.value ?? new Uint8Array([0x7b, 0x7d])), {
    egress: 'a',
    permits: 3,
  });

  t.match((await field.acquire([want()], 'w2')).answers, [{ kind: 'none', reason: 'rate_limited' }]);
  t.match(await field.call('proxies.show', { id: 'a' }), { state: 'rate_limited', usedHour: 3 });

  const uses = [0, 1].map(
    (n) => ({ lease: lease.id, n, outcome: 'ok', startedAgoMs: 5, ms: 5, status: 200 }) as const,
  );
  t.match(await field.client.report(reportOf('w1', { uses, done: [lease.id] })), { ended: [] });
  t.match(await field.call('proxies.show', { id: 'a' }), { state: 'available', usedHour: 2 });

  const gauges = await field.connection.nc.request('trawl.egress.gauges', undefined, { timeout: 5_000 });
  t.match(decode(gauges.data), { proxiesByState: { available: 1 }, hosts: 1, hostsClosed: 0 });
  const text = await manager.metrics();
  t.match(text, /trawl_egress_grants_total\{.*\} 1/);
  t.match(text, /trawl_egress_denials_total\{reason="rate_limited".*\} 1/);
  t.match(text, /trawl_egress_round_duration_seconds_count\{.*\} [1-9]/);
  await manager.stop();
  await t.rejects(field.connection.nc.request('trawl.egress.gauges'), 'who does not lead claims nothing');
});

t.test('malformed questions are refused, and harm nobody', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  await field.start('pm1');
  for (const bytes of [
    new Uint8Array(),
    Buffer.from('{}'),
    Buffer.from([0xc1]),
    Buffer.from('{"worker":1}'),
  ]) {
    const message = await field.connection.nc.request(names.egress('acquire'), bytes);
    t.match(decode(message.data), { error: { code: 'INVALID' } });
  }
  t.match((await field.acquire([want({ via: 'direct' })])).answers, [{ kind: 'granted' }]);
});

t.test('hosts are set, closed for everybody at once, and opened', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  const manager = await field.start('pm1');
  const heard: unknown[] = [];
  const subscription = field.client.onNews((news) => heard.push(news));
  t.teardown(subscription);
  const direct = want({ via: 'direct' });

  t.match(await field.call('hosts.set', { host: 'Shop.Example', delayMs: 2_000, concurrency: 4 }), {
    host: 'shop.example',
    limits: { delayMs: 2_000, concurrency: 4 },
  });
  t.match(await field.call('hosts.set', { host: 'shop.example', delayMs: 0, egressPerHour: 9 }), {
    limits: { delayMs: 0, concurrency: 4, egressCaps: { perHour: 9 } },
  });
  t.match((await field.acquire([direct])).answers, [{ kind: 'granted' }]);
  t.match(await field.call('hosts.close', { host: 'shop.example', forMs: 600_000, reason: 'deploy' }), {
    state: 'closed',
  });
  t.match((await field.acquire([direct])).answers, [{ kind: 'none', reason: 'host_closed' }]);
  t.match((await field.acquire([{ ...direct, host: 'other.example' }])).answers, [{ kind: 'granted' }]);
  t.match(heard, [{ closed: [{ host: 'shop.example', forMs: Number }], ended: [] }]);
  t.match(manager.news.at(-1), { about: 'host', kind: 'closed', facts: { host: 'shop.example' } });
  t.match(await field.call('hosts.ls', { state: 'closed' }), {
    hosts: [{ host: 'shop.example', closure: { reason: 'deploy' } }],
  });

  await manager.stop();
  await field.start('pm2');
  t.match(
    (await field.acquire([direct])).answers,
    [{ kind: 'none', reason: 'host_closed' }],
    'the next leader knows',
  );
  await field.call('hosts.open', { host: 'shop.example' });
  await field.call('hosts.set', { host: 'shop.example', concurrency: 0 });
  t.match((await field.acquire([direct])).answers, [{ kind: 'granted' }]);
  await t.rejects(field.call('hosts.show', { host: 'never.example' }), { code: 'INVALID' });
});

t.test(
  'what a worker holds of a removed proxy ends: at once by news, at the latest at its renewal',
  async (t) => {
    const server = await startNatsServer(t);
    const field = await openEgressField(t, server);
    await field.start('pm1');
    const heard: { ended: readonly string[] }[] = [];
    t.teardown(field.client.onNews((news) => heard.push(news)));
    await field.call('proxies.add', { url: 'http://127.0.0.1:8001', id: 'a' });
    const [answer] = (await field.acquire([want()])).answers;
    if (answer?.kind !== 'granted') throw new Error('nothing was granted');
    const leases = answer.leases.map(({ id }) => id);
    await field.call('proxies.rm', { ids: ['a'] });
    t.match(await field.client.report(reportOf('w1', { renew: leases })), { ended: leases });
    t.match(heard, [{ ended: leases }]);
  },
);

t.test('sessions are brought along and retired, and never shown in full', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  const manager = await field.start('pm1');
  await field.call('proxies.add', { url: 'http://127.0.0.1:8001', id: 'a' });
  const session = {
    ...{ id: 's1', host: 'shop.example', scraper: 'prices', egress: 'a', userAgent: 'ua' },
    headers: { authorization: PASSWORD },
    cookies: [{ name: 'sid', value: PASSWORD, domain: 'shop.example' }],
  };
  t.same(await field.call('sessions.import', { sessions: [session] }), { sessions: ['s1'] });
  const shown = await field.call<object>('sessions.show', { id: 's1' });
  t.match(shown, { id: 's1', state: 'valid', egress: 'a', host: 'shop.example' });
  t.notMatch(JSON.stringify([shown, await field.call('sessions.ls')]), PASSWORD);

  await manager.stop();
  await field.start('pm2');
  const [answer] = (await field.acquire([want({ session: 'any' })])).answers;
  t.match(answer, { kind: 'granted', leases: [{ egress: 'a', session: { id: 's1', userAgent: 'ua' } }] });
  t.match(await field.call('sessions.rm', { ids: ['s1'] }), { changed: ['s1'] });
  await t.rejects(field.call('sessions.rm', { ids: ['nobody'] }), { code: 'INVALID' });
});

t.test('credentials are nowhere but sealed', async (t) => {
  const server = await startNatsServer(t);
  const field = await openEgressField(t, server);
  const manager = await field.start('pm1');
  const said: string[] = [];
  // From now on everything that anybody says, but for the requests that bring the password along and their like.
  field.connection.nc.subscribe('>', {
    callback: (_error, { subject, data, headers }) => {
      if (!/^trawl\.ctl\.(proxies\.add|sessions\.import)$/.test(subject))
        said.push(
          `${subject} ${Buffer.from(data).toString('latin1')} ${JSON.stringify(headers?.keys().map((key) => headers.get(key)) ?? [])}`,
        );
    },
  });
  await field.call('proxies.add', {
    url: `http://customer:${PASSWORD}@127.0.0.1:8001`,
    id: 'a',
    control: `tcp://:${PASSWORD}@127.0.0.1:9051`,
  });
  await field.call('proxies.add', { url: `http://u:${PASSWORD}@nowhere` }).catch(() => undefined);
  const [answer] = (await field.acquire([want()])).answers;
  if (answer?.kind !== 'granted') throw new Error('nothing was granted');
  const uses = answer.leases.flatMap(({ id }) =>
    [0, 1, 2].map((n) => ({ lease: id, n, outcome: 'proxy', startedAgoMs: 1, ms: 1 }) as const),
  );
  await field.client.report(reportOf('w1', { uses, done: [] }));
  t.match(await field.call('proxies.show', { id: 'a' }), { state: 'disabled' });
  await field.call('proxies.ls');
  const metrics = await manager.metrics();
  await manager.stop();
  await field.connection.nc.flush();
  t.ok(
    said.some((text) => text.startsWith('$KV.egress.proxy.a ')),
    'the test does hear',
  );
  for (const text of [...said, ...manager.logLines, JSON.stringify(manager.news), metrics])
    t.ok(!text.includes(PASSWORD), text.slice(0, 60));
});
