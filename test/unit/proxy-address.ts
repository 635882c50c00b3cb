import t from 'tap';
import { inspect } from 'node:util';
import { asFailure } from '../../src/domain/failure.ts';
import {
  describeProxyAddress,
  formatProxyAddress,
  parseProxyAddress,
  proxyIdOf,
} from '../../src/domain/proxy-address.ts';
import { createRandom } from '../kit/random.ts';

t.test('the forms in which proxies are written', async (t) => {
  const cases: [text: string, url: string][] = [
    ['http://host.example:8080', 'http://host.example:8080'],
    ['https://u:p@Host.Example:443/', 'https://u:p@host.example:443'],
    ['socks5://127.0.0.1:9050', 'socks5://127.0.0.1:9050'],
    ['socks5h://u:p@127.0.0.1:9050', 'socks5://u:p@127.0.0.1:9050'],
    ['host.example:8080', 'http://host.example:8080'],
    ['u:p@host.example:8080', 'http://u:p@host.example:8080'],
    ['host.example:8080:u:p', 'http://u:p@host.example:8080'],
    ['10.0.0.1:8080:u:p:with:colons', 'http://u:p%3Awith%3Acolons@10.0.0.1:8080'],
    ['10.0.0.1:8080:u:p@ss', 'http://u:p%40ss@10.0.0.1:8080'],
    ['socks5://10.0.0.1:8080:u:p', 'socks5://u:p@10.0.0.1:8080'],
    ['http://u:p%40ss%3A@h:1', 'http://u:p%40ss%3A@h:1'],
    ['http://u:p@ss@h:1', 'http://u:p%40ss@h:1'],
    ['http://u:100%@h:1', 'http://u:100%25@h:1'],
    ['http://u:a/b@h:1', 'http://u:a%2Fb@h:1'],
    ['http://token@h:1', 'http://token@h:1'],
    ['http://[2001:db8::1]:3128', 'http://[2001:db8::1]:3128'],
    ['  http://h:1\r\n', 'http://h:1'],
  ];
  for (const [text, url] of cases) {
    const address = parseProxyAddress(text);
    t.equal(formatProxyAddress(address).reveal(), url, text);
    t.same(parseProxyAddress(url), address, 'and back');
  }
});

t.test('what is none is told without its password', async (t) => {
  const wrong = [
    ...[
      '',
      'host',
      'http://host',
      'http://u:hunter2@host',
      'ftp://u:hunter2@host:21',
      'http://u:hunter2@:80',
    ],
    ...['http://u:hunter2@host:0', 'http://u:hunter2@host:65536', 'http://u:hunter2@ho st:80', 'host:80:'],
    ...['http://:hunter2@host:80', 'http://u:hunter2@1.2.3.999:80', 'http://u:hunter2@[::zz]:80'],
    ...['http://u:hunter2@host:80/path', 'hunter2', `http://u:hunter2@${'x'.repeat(3000)}:80`],
  ];
  for (const text of wrong) {
    const error = asFailure(t.throws(() => parseProxyAddress(text), { code: 'INVALID' }, text.slice(0, 60)));
    t.notMatch(inspect(error) + (error.hint ?? ''), /hunter2/);
  }
});

t.test('nothing that is printed has credentials in it', async (t) => {
  const address = parseProxyAddress('http://customer:hunter2@host.example:8080');
  t.equal(describeProxyAddress(address), 'http://host.example:8080');
  t.notMatch(inspect(address) + JSON.stringify(address), /hunter2/);
  t.notMatch(proxyIdOf(address), /customer|hunter2/);
});

t.test('an address has one id', async (t) => {
  const id = (text: string): string => proxyIdOf(parseProxyAddress(text));
  t.match(id('http://u:p@Host.Example:8080'), /^host-example-8080-[0-9a-f]{12}$/);
  t.equal(id('http://u:p@h:1'), id('h:1:u:other'), 'a new password is the same proxy');
  const different = [
    'http://h:1',
    'https://h:1',
    'socks5://h:1',
    'http://h:2',
    'http://u@h:1',
    'http://v@h:1',
  ];
  t.equal(new Set(different.map(id)).size, different.length);
  t.match(id('http://[2001:db8::1]:3128'), /^[A-Za-z0-9_-]{1,64}$/);
  t.match(id(`http://${'a.'.repeat(100)}example:1`), /^[A-Za-z0-9_-]{1,64}$/);
});

t.test('any user and password survive the way through a URL', async (t) => {
  const random = createRandom(7);
  const letters = ['a', 'é', '🙂', ':', '@', '/', '?', '#', '%', '[', ']', '+', '&', '='] as const;
  const word = (): string => Array.from({ length: random.int(1, 8) }, () => random.pick(letters)).join('');
  for (let round = 0; round < 500; round += 1) {
    const [username, password] = [word(), word()];
    const url = `http://${encodeURIComponent(username)}:${encodeURIComponent(password)}@h:1`;
    const address = parseProxyAddress(url);
    t.equal(address.username, username);
    t.equal(address.password?.reveal(), password);
    t.same(parseProxyAddress(formatProxyAddress(address).reveal()), address);
  }
});
