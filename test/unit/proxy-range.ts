import t from 'tap';
import { spreadPorts } from '../../src/domain/proxy-range.ts';

t.test('a range is a proxy per port, each for one at a time', async (t) => {
  t.same(spreadPorts({ url: 'socks5://127.0.0.1:9050-9052', id: 'tor', control: '127.0.0.1:9051' }), [
    { url: 'socks5://127.0.0.1:9050', id: 'tor-9050', control: '127.0.0.1:9051', exclusive: true },
    { url: 'socks5://127.0.0.1:9051', id: 'tor-9051', control: '127.0.0.1:9051', exclusive: true },
    { url: 'socks5://127.0.0.1:9052', id: 'tor-9052', control: '127.0.0.1:9051', exclusive: true },
  ]);
  t.same(
    spreadPorts({ url: 'socks5://u:p@ss@[::1]:1-2', control: 'tcp://:pw@127.0.0.1:8-9', exclusive: false }),
    [
      { url: 'socks5://u:p@ss@[::1]:1', control: 'tcp://:pw@127.0.0.1:8', exclusive: false },
      { url: 'socks5://u:p@ss@[::1]:2', control: 'tcp://:pw@127.0.0.1:9', exclusive: false },
    ],
  );
});

t.test('what is no range stays what it is', async (t) => {
  for (const url of ['socks5://127.0.0.1:9050', 'host:80:user:12-34', 'http://user:12-34@host:80', ''])
    t.same(spreadPorts({ url }), [{ url }], url);
});

t.test('ranges that make no sense', async (t) => {
  for (const ports of ['9-8', '0-3', '65530-65536', '1-1001'])
    t.throws(() => spreadPorts({ url: `socks5://h:${ports}` }), { code: 'INVALID' }, ports);
  t.throws(() => spreadPorts({ url: 'socks5://h:1-3', control: 'h:7-8' }), {
    code: 'INVALID',
    message: /3 ports, but 2/,
  });
});
