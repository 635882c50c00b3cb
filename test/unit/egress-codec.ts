import t from 'tap';
import { inspect } from 'node:util';
import { parseProxyAddress } from '../../src/domain/proxy-address.ts';
import { Secret } from '../../src/domain/secret.ts';
import { decodeRecords, encodeWrite } from '../../src/nats/egress-records.ts';
import { recordKey, type EgressRecord } from '../../src/policy/egress/records.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { encode, encodeJson } from '../../src/wire/codec.ts';
import { decodeAcquire, decodeReport } from '../../src/wire/egress-codec.ts';
import type { AcquireRequest, EgressReport } from '../../src/wire/egress.ts';
import { sealAddress } from '../../src/wire/proxy-record.ts';
import { createSeal } from '../../src/wire/sealed.ts';

const seal = createSeal(new Secret('k'));
const CANARY = 'c4nary';

const records: EgressRecord[] = [
  {
    type: 'proxy',
    id: 'p1',
    address: parseProxyAddress(`socks5://user:${CANARY}@127.0.0.1:9050`),
    control: new Secret(`tcp://:${CANARY}@127.0.0.1:9051`),
    caps: { perHour: 10, perMinute: 2 },
    weight: 2,
    machine: 'm1',
    exclusive: true,
    tags: ['tor'],
    standing: {
      state: 'disabled',
      reason: 'it failed',
      since: 5,
      until: 9,
      times: 1,
      health: { lastCheck: 4, isHealthy: false, responseMs: 12, statusCode: 502, error: 'no' },
    },
  },
  { type: 'proxy', id: 'p2', address: parseProxyAddress('http://h:1'), weight: 1 },
  {
    type: 'host',
    host: 'shop.example=8080',
    limits: { delayMs: 5, egressCaps: { perHour: 1, perMinute: 0 } },
    throttleScope: 'egress',
    standing: {
      closure: { reason: 'throttled', since: 1, until: 2 },
      throttles: 1,
      blocks: 0,
      adaptiveDelayMs: 10,
      asked: { prices: { concurrency: 3 } },
      looseUntil: 0,
    },
  },
  { type: 'spent', egress: 'direct', usedAt: 3, hour: [[1, 2]], minute: [] },
  { type: 'pair', egress: 'p1', host: 'shop.example', hour: [[1, 1]], minute: [], times: 0 },
  {
    type: 'session',
    id: 's1',
    host: 'shop.example',
    scraper: 'prices',
    egress: 'p1',
    state: 'valid',
    userAgent: 'ua',
    headers: { authorization: CANARY },
    cookies: new Secret(`{"cookies":[{"key":"a","value":"${CANARY}"}]}`),
    uses: 1,
    errors: 0,
    createdAt: 1,
    usedAt: 2,
    validUntil: 3,
  },
  {
    type: 'robots',
    host: 'shop.example',
    version: 1,
    text: 'User-agent: *',
    crawlDelayMs: 0,
    until: 5,
    failures: 0,
  },
  { type: 'open', until: 7 },
];

t.test('records come back as they went, and their secrets are sealed', async (t) => {
  const stored = records.map((record) => encodeWrite({ kind: 'put', key: recordKey(record), record }, seal));
  const entries = stored.map((write): [string, Uint8Array] => [
    write.key,
    write.kind === 'put' ? write.value : new Uint8Array(),
  ]);
  for (const [key, value] of entries) {
    const text = Buffer.from(value).toString();
    t.notMatch(text, new RegExp(CANARY), key);
    t.equal(text[0], '{', 'JSON, for people');
  }
  t.match(Buffer.from(entries[0]?.[1] ?? '').toString(), /"endpoint":"socks5:\/\/127\.0\.0\.1:9050"/);
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) });
  const back = decodeRecords(entries, { seal, log });
  t.strictSame(reveal(back), reveal(records));
  t.same(lines, []);

  const broken = [
    ...decodeRecords(entries, { seal: createSeal(new Secret('another')), log }),
    ...decodeRecords(
      [
        ['proxy.x', encodeJson({ type: 'proxy', id: CANARY })],
        ['what.x', encodeJson({})],
      ],
      { seal, log },
    ),
  ];
  t.equal(broken.length, 5, 'what has no secret is still read');
  t.equal(lines.length, 5);
  t.notMatch(lines.join('\n'), new RegExp(CANARY));
});

t.test('an address travels in a lease as it is stored', async (t) => {
  const [proxy] = records;
  if (proxy?.type !== 'proxy') throw new Error('cannot be');
  const { url, control } = sealAddress(proxy, seal);
  t.equal(seal.open(url, 'proxy.p1'), `socks5://user:${CANARY}@127.0.0.1:9050`);
  t.equal(seal.open(control ?? '', 'proxy.p1'), `tcp://:${CANARY}@127.0.0.1:9051`);
  t.throws(() => seal.open(url, 'proxy.p2'));
});

const acquire: AcquireRequest = {
  worker: 'w1',
  machine: 'm',
  wants: [
    {
      host: 'shop.example',
      scraper: 's',
      count: 5,
      slots: 2,
      via: 'auto',
      select: 'lru',
      exclusive: false,
      tried: ['p1'],
      only: undefined,
      limits: { delayMs: 5 },
    },
  ],
};
const report: EgressReport = {
  worker: 'w1',
  uses: [{ lease: 'l', n: 0, times: 3, outcome: 'ok', startedAgoMs: 1.5, ms: 3, status: 200 }],
  started: [{ lease: 'l', count: 1, latestAgoMs: 2 }],
  done: ['l'],
  renew: [],
  sessions: [{ id: 's', verdict: 'ok', cookies: '{}' }],
  robots: [{ host: 'shop.example', keepMs: 5 }],
};

t.test('questions of workers are read, and malformed ones refused', async (t) => {
  t.same(decodeAcquire(encode(acquire)), acquire);
  t.same(decodeReport(encode(report)), report);
  const [want] = acquire.wants;
  const wrong: unknown[] = [
    {},
    [],
    { ...acquire, worker: '' },
    { ...acquire, wants: [{ ...want, host: 'A B' }] },
    { ...acquire, wants: [{ ...want, count: -1 }] },
    { ...acquire, wants: [{ ...want, count: NaN }] },
    { ...acquire, wants: [{ ...want, via: 'balloon' }] },
    { ...acquire, wants: [{ ...want, limits: { delayMs: Infinity } }] },
    { ...acquire, wants: Array.from({ length: 1_001 }, () => want) },
  ];
  for (const body of wrong)
    t.throws(() => decodeAcquire(encode(body)), { code: 'INVALID' }, inspect(body).slice(0, 80));
  const [use] = report.uses;
  for (const change of [
    { outcome: 'well' },
    { n: 1.5 },
    { times: 0 },
    { times: 1e9 },
    { startedAgoMs: -1 },
    { lease: 7 },
  ])
    t.throws(() => decodeReport(encode({ ...report, uses: [{ ...use, ...change }] })), { code: 'INVALID' });
  t.throws(() => decodeReport(new Uint8Array()), { code: 'INVALID' });
});

/** Secrets compare equal whatever they hold: open them. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, reveal(each)]));
}
