/** `trawl proxies`, `hosts` and `sessions`, as a child process, with a proxy-manager on a real server. */
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STEADY_TTL } from '../kit/leader-ttl.ts';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import { openEgressField, want } from '../kit/proxy-managers.ts';
import { createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

const PASSWORD = 'hunter2-canary';

const server = await startNatsServer(t);
const field = await openEgressField(t, server);
const trawl = await installTrawl(t, { NATS_URL: server.url, TRAWL_LEADER_TTL: STEADY_TTL });
const folder = temporaryFolder(t);

interface Proxies {
  readonly proxies: readonly { readonly id: string; readonly state: string; readonly weight: number }[];
}

t.test('while nobody leads it says so', async (t) => {
  const { code, stderr } = await trawl.run('proxies', 'ls');
  t.equal(code, 3);
  t.match(stderr, /no proxy-manager answers/);
});

t.test('the life of a proxy', async (t) => {
  await field.start('pm');
  t.equal((await trawl.run('proxies', 'ls')).stdout, 'No proxies.\n');
  const add = [
    `http://customer:${PASSWORD}@127.0.0.1:8001`,
    '--id',
    'a',
    '--weight',
    '2.5',
    '--per-hour',
    '7',
  ];
  const more = [
    '--per-minute',
    '3',
    '--exclusive',
    '--on',
    'm1',
    '--control',
    '127.0.0.1:9051',
    '--tag',
    'dc',
    '--tag',
    'eu',
  ];
  const added = await trawl.run('proxies', 'add', ...add, ...more);
  t.equal(added.stdout, 'a  added\n');
  t.equal(added.stderr, '');
  t.match(await trawl.json('proxies', 'show', 'a'), {
    id: 'a',
    endpoint: 'http://127.0.0.1:8001',
    state: 'available',
    weight: 2.5,
    exclusive: true,
    machine: 'm1',
    tags: ['dc', 'eu'],
    caps: { perHour: 7, perMinute: 3 },
  });
  const shown = await trawl.run('proxies', 'show', 'a');
  t.match(shown.stdout, /^id +a\nendpoint +http:\/\/127\.0\.0\.1:8001\nstate +available\n/);
  t.match(
    shown.stdout,
    /this hour +0\/7\n[^]*last_check +-\nis_healthy +-\nresponse_time +-\nstatus_code +-\nerror +-\n/,
  );

  const several = await trawl.run('proxies', 'add', '127.0.0.1:8002', `ftp://u:${PASSWORD}@h:1`);
  t.equal(several.code, 1);
  t.match(several.stdout, /^127-0-0-1-8002-\w+ +added\nproxy 2 refused: that is not the address of a proxy/);

  const table = (await trawl.run('proxies', 'ls')).stdout;
  t.match(table, /^ID +ENDPOINT +STATE +REASON +SINCE +UNTIL +HOUR +MINUTE +LAST USE +HEALTH +SCORE\n/);
  t.match(table, /\na +http:\/\/127\.0\.0\.1:8001 +available .* 0\/7 +0\/3 /);
  t.same(
    (await trawl.json<Proxies>('proxies', 'ls', '--tag', 'eu')).proxies.map(({ id }) => id),
    ['a'],
  );
  t.same((await trawl.json<Proxies>('proxies', 'ls', '--state', 'frozen')).proxies, []);

  t.equal((await trawl.run('proxies', 'freeze', 'a', '--reason', 'maintenance')).stdout, 'a  frozen\n');
  t.match((await trawl.run('proxies', 'ls', '--state', 'frozen')).stdout, /\na .* frozen +maintenance /);
  const half = await trawl.run('proxies', 'reset', 'a', 'nobody');
  t.equal(half.code, 1);
  t.equal(half.stdout, 'a  as new\nnobody  there is no such proxy\n');
  t.equal((await trawl.run('proxies', 'rm', 'a')).stdout, 'a  removed\n');
  t.equal((await trawl.run('proxies', 'show', 'a')).code, 2);

  const wrong: [RegExp, ...string[]][] = [
    [/which proxy\?/, 'add'],
    [/--id names one proxy, but there are 2/, 'add', 'h:1', 'h:2', '--id', 'x'],
    [/--weight must be a number/, 'add', 'h:1', '--weight', '-1'],
    [/--per-hour must be a whole number/, 'add', 'h:1', '--per-hour', 'x'],
    [/must be 1 to 64 letters/, 'add', 'h:1', '--id', 'a.b'],
    [/it has no host and port/, 'add', `http://u:${PASSWORD}@h`],
    [/which file\?/, 'import'],
    [/proxies is missing/, 'rm'],
    [/cannot be read: ENOENT/, 'import', join(folder, 'nothing')],
  ];
  for (const [reason, ...words] of wrong) {
    const { code, stderr, stdout } = await trawl.run('proxies', ...words);
    t.equal(code, 2, words.slice(0, 3).join(' '));
    t.match(stderr, reason);
    t.notMatch(stderr + stdout, PASSWORD);
  }
});

t.test('a list of ten thousand is imported; bad lines are told and keep no other one out', async (t) => {
  const file = join(folder, 'list.txt');
  const lines = Array.from(
    { length: 10_000 },
    (_, i) => `10.${i >> 8}.${i & 255}.1:8080:customer${i}:${PASSWORD}`,
  );
  lines[4_999] = `ftp://u:${PASSWORD}@h:1`;
  lines[9_998] = '10.0.0.1:99999';
  writeFileSync(file, `\uFEFF# from a provider\r\n\r\n${lines.join('\r\n')}`);
  const began = performance.now();
  const { code, stdout, stderr } = await trawl.run(
    'proxies',
    'import',
    file,
    '--tag',
    'big',
    '--per-hour',
    '5',
  );
  t.comment(`${Math.round(performance.now() - began)} ms`);
  t.equal(code, 1, stderr);
  t.match(
    stdout,
    /^line 5002: that is not[^\n]*must start with[^\n]*\nline 10001: that is not[^\n]*its port[^\n]*\n9,998 added, 0 changed, 2 refused\.\n$/,
  );
  t.notMatch(stdout + stderr, PASSWORD);
  const { proxies } = await trawl.json<Proxies>('proxies', 'ls', '--tag', 'big');
  t.equal(proxies.length, 9_998);
  t.equal(new Set(proxies.map(({ id }) => id)).size, 9_998);
  writeFileSync(file, `10.0.0.1:8080:customer0:changed\n`);
  t.match(
    await trawl.json('proxies', 'import', file),
    { added: 0, changed: 1, problems: [] },
    'the same proxy again',
  );
  const piped = await createShell(trawl)(`npx trawl proxies import - < ${file}`);
  t.match(piped, { code: 0, said: /0 added, 1 changed, 0 refused/ }, 'from stdin');
});

t.test('hosts', async (t) => {
  t.match(
    (await trawl.run('hosts', 'set', 'Shop.Example', '--delay', '2s', '--jitter', '30')).stdout,
    /^host +shop.example\n/,
  );
  const rest = ['--egress-delay', '500ms', '--concurrency', '4', '--per-hour', '100', '--per-minute', '9'];
  const caps = ['--egress-hour', '20', '--egress-minute', '2', '--throttle-scope', 'egress'];
  t.match(await trawl.json('hosts', 'set', 'shop.example', ...rest, ...caps), {
    limits: {
      ...{ delayMs: 2_000, jitter: 0.3, egressDelayMs: 500, concurrency: 4, perHour: 100, perMinute: 9 },
      egressCaps: { perHour: 20, perMinute: 2 },
    },
  });
  t.match(await trawl.json('hosts', 'set', 'shop.example', '--concurrency', '0', '--delay', '0'), {
    limits: { concurrency: 0, delayMs: 0, egressDelayMs: 500 },
  });
  const closed = await trawl.run('hosts', 'close', 'shop.example', '--for', '10m', '--reason', 'deploy');
  t.match(closed.stdout, /^shop\.example is closed until 20\d\d-.*Z\.\n$/);
  t.match(
    (await trawl.run('hosts', 'ls', '--state', 'closed')).stdout,
    /\nshop\.example +closed +deploy +\S+ +(9m|10m)/,
  );
  t.match((await trawl.run('hosts', 'show', 'shop.example')).stdout, /\nstate +closed\nreason +deploy\n/);
  t.match((await field.acquire([want({ via: 'direct' })])).answers, [
    { kind: 'none', reason: 'host_closed' },
  ]);
  t.equal((await trawl.run('hosts', 'open', 'shop.example')).stdout, 'shop.example is open.\n');
  t.equal(
    (await trawl.run('hosts', 'close', 'shop.example')).stdout,
    'shop.example is closed until it is opened.\n',
  );
  t.match((await trawl.run('hosts', 'show', 'shop.example')).stdout, /\nuntil +somebody opens it\n/);
  await trawl.run('hosts', 'open', 'shop.example');
  const wrong: [RegExp, ...string[]][] = [
    [/what is to be set for a.example\?/, 'set', 'a.example'],
    [/--delay must be a time such as/, 'set', 'a.example', '--delay', 'soon'],
    [/host is missing/, 'close'],
    [/nothing is known about never.example/, 'show', 'never.example'],
    [/that is not a host/, 'show', 'no host'],
  ];
  for (const [reason, ...words] of wrong) {
    const { code, stderr } = await trawl.run('hosts', ...words);
    t.equal(code, 2, words.join(' '));
    t.match(stderr, reason);
  }
});

t.test('sessions', async (t) => {
  await trawl.run('proxies', 'add', '127.0.0.1:8100', '--id', 'home');
  const session = (id: string): object => ({
    ...{
      id,
      host: 'shop.example',
      scraper: 'prices',
      egress: 'home',
      userAgent: 'ua',
      validUntil: '2100-01-01T00:00:00Z',
    },
    cookies: [{ name: 'sid', value: PASSWORD, domain: '.shop.example' }],
  });
  const list = join(folder, 'sessions.json');
  writeFileSync(list, JSON.stringify([session('s1'), session('s2')], undefined, 2));
  t.equal((await trawl.run('sessions', 'import', list)).stdout, '2 sessions are imported.\n');
  const perLine = join(folder, 'sessions.ndjson');
  writeFileSync(perLine, `${JSON.stringify(session('s3'))}\n`);
  t.same(await trawl.json('sessions', 'import', perLine), { sessions: ['s3'] });
  const table = (await trawl.run('sessions', 'ls', '--host', 'shop.example')).stdout;
  t.match(
    table,
    /^ID +HOST +SCRAPER +EGRESS +STATE +USES +ERRORS +AGE +LAST USE +VALID FOR\ns1 +shop\.example +prices +home +valid /,
  );
  t.match((await trawl.run('sessions', 'show', 's1')).stdout, /valid until +2100-01-01T00:00:00\.000Z/);
  t.equal((await trawl.run('sessions', 'rm', 's1', 's2')).stdout, 's1  retired\ns2  retired\n');
  t.match(await trawl.json('sessions', 'ls', '--state', 'retired'), {
    sessions: [{ id: 's1' }, { id: 's2' }],
  });
  t.equal((await trawl.run('sessions', 'ls', '--host', 'other.example')).stdout, 'No sessions.\n');
  const broken = join(folder, 'broken.json');
  writeFileSync(broken, `{"cookies": "${PASSWORD}"\n`);
  const refused = await trawl.run('sessions', 'import', broken);
  t.equal(refused.code, 2);
  t.match(refused.stderr, /line 1 of .* is not a JSON object/);
  t.notMatch(refused.stderr, PASSWORD);
});
