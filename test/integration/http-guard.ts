/** The guard of addresses in the engine: literals, names, rebinding, redirects' spellings, proxies. */
import t from 'tap';
import type { LookupAddress } from 'node:dns';
import { createHttpEngine } from '../../src/http/engine.ts';
import { startTestProxy } from '../kit/http-proxies.ts';
import { startRaw, startSite, startWorld } from '../kit/http-world.ts';

const REFUSED = { code: 'REJECTED', sent: false, hint: /exact ip:port/ };

t.test('no address of the machine or its network is dialled', async (t) => {
  let dialled = 0;
  const port = await startRaw(t, (socket) => {
    dialled += 1;
    socket.destroy();
  });
  const { failing, engine } = startWorld(t, []);
  const hosts =
    `127.0.0.1 127.1 0x7f000001 0177.0.0.1 2130706433 127.0.0.2 0.0.0.0 localhost [::1] [::] [::ffff:127.0.0.1]
    [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::] 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254
    100.100.100.200 [fd00:ec2::254] [fe80::1] 224.0.0.1 255.255.255.255`.split(/\s+/);
  for (const host of hosts) {
    for (const scheme of ['http', 'https']) {
      t.match(await failing(`${scheme}://${host}:${port}/`), REFUSED, `${scheme}://${host}`);
    }
  }
  await engine.close();
  t.equal(dialled, 0);
});

t.test('loopback is allowed by exact address and port alone', async (t) => {
  const [open, shut] = [
    await startSite(t, (_, response) => response.end('in')),
    await startSite(t, (_, response) => response.end('in')),
  ];
  const { failing, get } = startWorld(t, [open]);
  t.equal((await get(`http://127.0.0.1:${open}/`)).status, 200);
  t.match(await failing(`http://127.0.0.1:${shut}/`), REFUSED);
  t.match(await failing(`http://127.0.0.2:${open}/`), REFUSED);
  t.match(await failing(`http://[::ffff:127.0.0.1]:${open}/`), REFUSED);
  for (const entry of ['localhost:80', '127.0.0.1', '*']) {
    const options = { allowLoopback: [entry], poolsMax: 1, connectionsPerOrigin: 0 };
    t.throws(() => createHttpEngine(options), { code: 'INVALID' }, entry);
  }
});

t.test('names are judged by what they resolve to, and that is what is dialled', async (t) => {
  let dialled = 0;
  const port = await startSite(t, (_, response) => {
    dialled += 1;
    response.end();
  });
  const asked: string[] = [];
  const answers: Record<string, string[][]> = {
    'private.example': [['10.0.0.1']],
    'mixed.example': [['127.0.0.1', '10.0.0.1']],
    'mapped.example': [['::ffff:169.254.169.254']],
    'metadata.example': [['169.254.169.254']],
    'empty.example': [[]],
    'good.example': [['127.0.0.1']],
    // First the address that may be had, then another: a second question would be answered with it.
    'rebind.example': [['127.0.0.1'], ['10.0.0.1']],
  };
  const { failing, get } = startWorld(t, [port], {
    resolve(name, _, done) {
      asked.push(name);
      const turn = asked.filter((one) => one === name).length - 1;
      const list = answers[name]?.[turn] ?? [];
      done(
        null,
        list.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    },
  });
  for (const name of ['private', 'mixed', 'mapped', 'metadata']) {
    t.match(await failing(`http://${name}.example:${port}/`), REFUSED, name);
  }
  t.match(await failing(`http://empty.example:${port}/`), { code: 'NETWORK', sent: false });
  t.equal(dialled, 0);
  t.equal((await get(`http://good.example:${port}/`)).status, 200);
  t.equal((await get(`http://rebind.example:${port}/`)).status, 200);
  t.equal(asked.filter((name) => name === 'rebind.example').length, 1, 'asked once for one connection');
});

t.test('a name that does not exist', async (t) => {
  t.match(await startWorld(t, []).failing('http://nothing.invalid/'), { code: 'NETWORK', sent: false });
});

t.test(
  'through a proxy, addresses and names of its own machine are refused before it hears of them',
  async (t) => {
    const site = await startSite(t, (_, response) => response.end());
    for (const kind of ['http', 'socks5'] as const) {
      const proxy = await startTestProxy(t, kind, { targetPort: site });
      const { failing, get } = startWorld(t, [site]);
      const egress = { egress: { id: 'p', address: proxy.address } };
      for (const host of ['127.0.0.1', 'localhost', 'a.localhost', '10.0.0.1', '[::1]', '169.254.169.254']) {
        t.match(await failing(`http://${host}:8080/`, egress), REFUSED, host);
      }
      t.same(proxy.asked, []);
      t.equal(
        (await get(`http://127.0.0.1:${site}/`, egress)).status,
        200,
        'except for what the configuration allows',
      );
    }
  },
);
