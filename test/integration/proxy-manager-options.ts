/** Every option of the egress does something. */
import t from 'tap';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LeaseGrant, WantAnswer } from '../../src/wire/egress.ts';
import { startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import {
  openEgressField,
  reportOf,
  want,
  type EgressField,
  type Env,
  type Manager,
} from '../kit/proxy-managers.ts';
import { until } from '../kit/coordinators.ts';

const server = await startNatsServer(t);
const field: EgressField = await openEgressField(t, server);

async function withManager(env: Env, use: (manager: Manager) => Promise<void>): Promise<void> {
  const manager = await field.start('pm', env);
  try {
    await use(manager);
  } finally {
    await manager.stop();
    await field.connection.jsm.streams.purge('KV_egress');
  }
}

function granted(answer: WantAnswer | undefined): readonly LeaseGrant[] {
  if (answer?.kind !== 'granted') throw new Error(`not granted: ${JSON.stringify(answer)}`);
  return answer.leases;
}

const first = async (
  fields: Parameters<typeof want>[0] = {},
  worker = 'w1',
): Promise<WantAnswer | undefined> => (await field.acquire([want(fields)], worker)).answers[0];
const addProxies = (...ids: string[]): Promise<unknown> =>
  field.call('proxies.add', { proxies: ids.map((id, i) => ({ id, url: `http://127.0.0.1:${8_001 + i}` })) });

t.test('perHour and perMinute', async (t) => {
  await withManager({ TRAWL_EGRESS_PER_HOUR: '7', TRAWL_EGRESS_PER_MINUTE: '4' }, async () => {
    await addProxies('a');
    t.match(granted(await first({ count: 20 })), [{ permits: 4 }]);
    t.match(await field.call('proxies.show', { id: 'a' }), { caps: { perHour: 7, perMinute: 4 } });
    await field.call('proxies.add', { id: 'b', url: 'http://127.0.0.1:1', perMinute: 2 });
    t.match(
      await field.call('proxies.show', { id: 'b' }),
      { caps: { perHour: 7, perMinute: 2 } },
      'the other cap stays',
    );
  });
});

t.test('maxPerWorker', async (t) => {
  await withManager({ TRAWL_EGRESS_MAX_PER_WORKER: '1' }, async () => {
    await addProxies('a', 'b');
    const [lease] = granted(await first({ exclusive: true, count: 1 }));
    t.match(await first({ exclusive: true, count: 1, tried: [lease?.egress ?? ''] }), {
      kind: 'none',
      reason: 'cap_reached',
    });
    t.match(await first({ exclusive: true, count: 1 }, 'w2'), { kind: 'granted' });
  });
});

t.test('hostDelay, hostEgressDelay, hostConcurrency, jitter', async (t) => {
  await withManager({ TRAWL_EGRESS_HOST_DELAY: '2s', TRAWL_EGRESS_JITTER: '20' }, async () => {
    t.match(granted(await first({ via: 'direct' })), [{ spacingMs: 2_000, jitter: 0.2 }]);
    t.match(await first({ via: 'direct' }, 'w2'), { kind: 'none', reason: 'host_busy' }, 'cluster-wide');
  });
  await withManager({ TRAWL_EGRESS_HOST_EGRESS_DELAY: '3s' }, async () => {
    await addProxies('a', 'b');
    const [one] = granted(await first({ count: 1 }));
    t.equal(one?.spacingMs, 3_000);
    const [other] = granted(await first({ count: 1 }, 'w2'));
    t.not(other?.egress, one?.egress, 'through another one at once');
  });
  await withManager({ TRAWL_EGRESS_HOST_CONCURRENCY: '2' }, async () => {
    t.match(granted(await first({ via: 'direct', slots: 9 })), [{ slots: 2 }]);
    t.match(await first({ via: 'direct' }, 'w2'), { kind: 'none', reason: 'host_busy' });
  });
});

t.test('hostsFile', async (t) => {
  const file = join(temporaryFolder(t), 'hosts.yaml');
  writeFileSync(file, '"*.shop.example":\n  delay: 1500ms\n');
  await withManager({ TRAWL_EGRESS_HOSTS_FILE: file }, async () => {
    t.match(granted(await first({ via: 'direct', host: 'www.shop.example' })), [{ spacingMs: 1_500 }]);
    t.match(granted(await first({ via: 'direct', host: 'other.example' })), [{ spacingMs: 0 }]);
  });
  writeFileSync(file, 'shop.example:\n  dealy: 1s\n');
  await t.rejects(field.start('pm', { TRAWL_EGRESS_HOSTS_FILE: file }), {
    code: 'INVALID',
    message: /hosts.yaml:2:3/,
  });
});

t.test('leaseTtl: what a dead worker held is free again after it', async (t) => {
  await withManager({ TRAWL_EGRESS_LEASE_TTL: '1s' }, async () => {
    await addProxies('a');
    const began = performance.now();
    granted(await first({ exclusive: true, count: 1 }));
    t.match(await field.call('proxies.show', { id: 'a' }), { state: 'leased' });
    t.match(await first({ exclusive: true, count: 1 }, 'w2'), { kind: 'none' });
    await until(async () => (await first({ exclusive: true, count: 1 }, 'w2'))?.kind === 'granted', 8_000);
    t.ok(performance.now() - began >= 950);
  });
});

t.test('an exclusive proxy is exclusive to everybody', async (t) => {
  await withManager({}, async () => {
    await field.call('proxies.add', { url: 'http://127.0.0.1:8001', id: 'a', exclusive: true });
    granted(await first({ count: 1 }));
    t.match(await first({ count: 1 }, 'w2'), { kind: 'none' });
  });
});

t.test('a proxy of one machine is used there alone', async (t) => {
  await withManager({}, async () => {
    await field.call('proxies.add', {
      url: 'socks5://127.0.0.1:9050',
      id: 'tor',
      machine: 'm2',
      control: '127.0.0.1:9051',
    });
    t.match(await first(), { kind: 'none' });
    const reply = await field.client.acquire({ worker: 'w', machine: 'm2', wants: [want()] });
    t.match(granted(reply?.answers[0]), [{ egress: 'tor', url: /^sealed1:/, control: /^sealed1:/ }]);
  });
});

t.test('retryAfterMax', async (t) => {
  await withManager({ TRAWL_EGRESS_RETRY_AFTER_MAX: '5s' }, async () => {
    const [lease] = granted(await first({ via: 'direct' }));
    const use = {
      lease: lease?.id ?? '',
      n: 0,
      outcome: 'throttled',
      startedAgoMs: 1,
      ms: 1,
      status: 429,
      retryAfterMs: 3_600_000,
    } as const;
    const reply = await field.client.report(reportOf('w1', { uses: [use] }));
    const [closed] = reply?.closed ?? [];
    t.equal(closed?.host, 'shop.example');
    t.ok((closed?.forMs ?? 0) > 4_000 && (closed?.forMs ?? 0) <= 5_000, `${closed?.forMs}`);
  });
});

t.test('probeUrl, probeInterval, probeTimeout, probeStatus', async (t) => {
  const asked: string[] = [];
  let status = 204;
  const proxy: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (status === 0) return; // it hangs
    response.writeHead(status).end();
  });
  // Whether the engine sends plain http as it is or through a tunnel is its own affair.
  proxy.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (status !== 0) socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  const env = {
    TRAWL_EGRESS_PROBE_URL: 'http://93.184.216.34/ping',
    TRAWL_EGRESS_PROBE_INTERVAL: '1s',
    TRAWL_EGRESS_PROBE_TIMEOUT: '300ms',
    TRAWL_EGRESS_PROBE_STATUS: '204',
    TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${port}`,
  };
  await withManager(env, async (manager) => {
    await field.call('proxies.add', { url: `http://u:hunter2@127.0.0.1:${port}`, id: 'a' });
    interface Shown {
      readonly state: string;
      readonly health?: {
        readonly is_healthy: boolean;
        readonly status_code: number | null;
        readonly error: string | null;
      };
    }
    const show = (): Promise<Shown> => field.call<Shown>('proxies.show', { id: 'a' });
    await until(async () => (await show()).health?.is_healthy === true, 5_000);
    t.match(await show(), {
      state: 'available',
      health: { is_healthy: true, status_code: 204, error: null, response_time: Number, last_check: String },
    });
    t.ok(asked.length > 0);
    t.match(await manager.metrics(), /trawl_proxy_healthy\{proxy="a".*\} 1/);
    status = 500;
    await until(async () => (await show()).health?.is_healthy === false, 5_000);
    t.match(await show(), { health: { status_code: 500, error: /500 instead of 204/ } });
    await until(async () => (await show()).state === 'disabled', 8_000);
    t.match(await first(), { kind: 'none' }, 'it is not handed out');
    status = 0;
    await until(async () => (await show()).health?.status_code === null, 8_000);
    t.notMatch(JSON.stringify(await show()), 'hunter2');
    status = 204;
    await until(async () => (await show()).state === 'available', 8_000);
    t.match(await first(), { kind: 'granted' }, 'a probe that passes brings it back');
    await delay(1);
  });
});
