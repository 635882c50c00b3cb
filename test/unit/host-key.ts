import t from 'tap';
import { hostKey, hostOfKey, isHostKey, parseHost, splitHostKey } from '../../src/wire/host-key.ts';

t.test('a host has one key, and the key leads back to it', async (t) => {
  const cases: [url: string, key: string, host: string][] = [
    ['https://Shop.Example/a?b', 'shop.example', 'shop.example'],
    ['http://shop.example:80/', 'shop.example', 'shop.example'],
    ['https://shop.example:80/', 'shop.example=80', 'shop.example:80'],
    ['http://shop.example.:8080/', 'shop.example=8080', 'shop.example:8080'],
    ['http://127.0.0.1:3000/', '127.0.0.1=3000', '127.0.0.1:3000'],
    ['http://0x7f.1/', '127.0.0.1', '127.0.0.1'],
    ['http://[::1]:8080/', '--1=8080', '[::1]:8080'],
    ['http://[2001:DB8::5]/', '2001-db8--5', '[2001:db8::5]'],
    ['https://bücher.example/', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['https://my_host.example/', 'my_host.example', 'my_host.example'],
  ];
  for (const [url, key, host] of cases) {
    t.equal(hostKey(new URL(url)), key, url);
    t.equal(hostOfKey(key), host);
    t.ok(isHostKey(key));
  }
  t.same(splitHostKey('--1=8080'), { name: '::1', port: 8080 });
  t.same(splitHostKey('a-b.example'), { name: 'a-b.example', port: undefined });
});

t.test('what cannot be a key is refused', async (t) => {
  for (const url of ['http://a..b/', 'http://*.example/', "http://it's.example/", 'http://a+b/'])
    t.throws(() => hostKey(new URL(url)), { code: 'INVALID' }, url);
  for (const key of ['', 'A.example', 'a..b', 'a=', 'a=x', '*', 'a.>', 'x'.repeat(300)])
    t.notOk(isHostKey(key), key);
});

t.test('people may write a host as they like', async (t) => {
  for (const text of ['shop.example', 'SHOP.example', 'https://shop.example/page', 'shop.example:80'])
    t.equal(parseHost(text), 'shop.example', text);
  t.equal(parseHost('shop.example:8080'), 'shop.example=8080');
  t.equal(parseHost('[::1]:8080'), '--1=8080');
  t.throws(() => parseHost('no host at all'), { code: 'INVALID' });
});
