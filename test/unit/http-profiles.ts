/** Header profiles, and the collector of bodies. */
import t from 'tap';
import { createBodyCollector } from '../../src/http/collect-body.ts';
import { ACCEPT_ENCODING } from '../../src/http/decode-body.ts';
import { findProfile, profileHeaders, PROFILES } from '../../src/http/profiles.ts';

const secure = new URL('https://shop.example/');

t.test('the parts of a profile agree', async (t) => {
  for (const profile of PROFILES) {
    const headers = new Map(
      profileHeaders(profile, secure).map(([name, value]) => [name.toLowerCase(), value]),
    );
    t.equal(findProfile(profile.name), profile);
    t.equal(headers.get('user-agent'), profile.userAgent, profile.name);
    t.notOk([...headers.values()].includes(''), 'no empty header');
    const asked = headers.get('accept-encoding')?.split(', ') ?? [];
    t.ok(
      asked.length > 0 && asked.every((coding) => ACCEPT_ENCODING.split(', ').includes(coding)),
      'decodable',
    );
    const version = /Chrome\/(\d+)/.exec(profile.userAgent)?.[1];
    t.equal(headers.has('sec-ch-ua'), version !== undefined, 'hints are of Chromium alone');
    if (version !== undefined) t.match(headers.get('sec-ch-ua'), `"Chromium";v="${version}"`);
  }
  t.equal(findProfile('netscape'), undefined);
});

t.test('own headers take the place of the profile’s', async (t) => {
  const profile = PROFILES[0];
  if (!profile) throw new Error('no profile');
  const names = (url: URL, own: [string, string][]): string[] =>
    profileHeaders(profile, url, own).map(([name]) => name.toLowerCase());
  const own: [string, string][] = [
    ['x-own', '1'],
    ['cookie', 'a=b'],
    ['ACCEPT', 'application/json'],
  ];
  const all = names(secure, own);
  t.same(all.slice(-3), ['accept-language', 'cookie', 'x-own']);
  t.equal(all.filter((name) => name === 'accept').length, 1);
  t.same(
    names(new URL('http://shop.example/'), own).filter((name) => name.startsWith('sec-')),
    [],
    'browsers send these over https only',
  );
});

t.test('a body is collected in any pieces', async (t) => {
  for (const sizes of [
    [],
    [5],
    [1, 1, 1],
    [2000, 1, 1, 2000, 3],
    new Array<number>(40_000).fill(1),
    [1, 20_000],
  ]) {
    const whole = Buffer.from(sizes.flatMap((size, i) => new Array<number>(size).fill(i % 251)));
    const collector = createBodyCollector(whole.length);
    let at = 0;
    for (const size of sizes) {
      t.equal(collector.add(whole.subarray(at, at + size)), true);
      at += size;
    }
    t.ok(collector.take().equals(whole), `${sizes.length} pieces`);
    t.equal(collector.bytes, whole.length);
    t.equal(collector.add(Buffer.from('x')), false, 'and not a byte more');
  }
});
