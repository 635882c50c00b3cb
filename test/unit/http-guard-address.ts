/** Addresses that pages must not lead to. */
import t from 'tap';
import { endpointKey, isForbidden, parseEndpoint } from '../../src/http/guard-address.ts';

const FORBIDDEN = `
  0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
  169.254.169.254 169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.7 192.88.99.1 192.168.0.1
  198.18.0.1 198.19.255.255 198.51.100.9 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
  :: ::1 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
  64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
  2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254
  fd12:3456::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1 4000::1 e000::1`;

const FREE = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.1 192.167.255.255 192.169.0.0 198.17.255.255
  198.20.0.0 223.255.255.255 2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001:81b::200e
  2400:cb00::1 3ffe::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8`;

const words = (text: string): string[] => text.trim().split(/\s+/);

t.test('what is not of the public internet is forbidden', async (t) => {
  t.ok(words(FORBIDDEN).length >= 43);
  for (const address of words(FORBIDDEN)) t.equal(isForbidden(address), true, address);
});

t.test('the public internet is free, up to the borders', async (t) => {
  for (const address of words(FREE)) t.equal(isForbidden(address), false, address);
});

t.test('what is no address is forbidden', async (t) => {
  for (const text of [
    '',
    'localhost',
    '127.1',
    '1.2.3',
    '0x7f.1',
    '[::1]',
    '1.2.3.4:80',
    ':::',
    '300.1.1.1',
  ]) {
    t.equal(isForbidden(text), true, text);
  }
});

t.test('spellings that a URL folds', async (t) => {
  for (const host of [
    '0x7f000001',
    '0177.0.0.1',
    '2130706433',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
  ]) {
    const { hostname } = new URL(`http://${host}/`);
    t.equal(isForbidden(hostname.replace(/^\[|\]$/g, '')), true, `${host} is ${hostname}`);
  }
});

t.test('an endpoint has one spelling', async (t) => {
  t.equal(parseEndpoint('127.0.0.1:80'), endpointKey('127.0.0.1', 80));
  t.equal(parseEndpoint('[::1]:8080'), endpointKey('0:0:0:0:0:0:0:1', 8080));
  t.not(parseEndpoint('127.0.0.1:80'), parseEndpoint('127.0.0.1:81'));
  t.not(endpointKey('::ffff:127.0.0.1', 80), endpointKey('127.0.0.1', 80), 'a mapped address is another one');
  for (const text of ['localhost:80', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:70000', '::1:80', '*:80', '']) {
    t.equal(parseEndpoint(text), undefined, text);
  }
});
