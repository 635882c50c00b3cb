import t from 'tap';
import { inspect } from 'node:util';
import { Secret } from '../../src/domain/secret.ts';
import { createSeal } from '../../src/wire/sealed.ts';

const seal = createSeal(new Secret('a key'));
const text = 'http://user:pässword@host:1';

t.test('what is sealed opens with the same key, about the same thing, and with nothing else', async (t) => {
  const sealed = seal.seal(text, 'proxy.a');
  t.match(sealed, /^sealed1:[\w-]+$/);
  t.notMatch(sealed, 'user');
  t.equal(seal.open(sealed, 'proxy.a'), text);
  t.equal(createSeal(new Secret('a key')).open(sealed, 'proxy.a'), text, 'another process with the key');
  t.not(seal.seal(text, 'proxy.a'), sealed, 'twice the same is not seen to be the same');
  t.equal(seal.open(seal.seal('', 'x'), 'x'), '');

  const wrong = [
    () => seal.open(sealed, 'proxy.b'),
    () => createSeal(new Secret('another')).open(sealed, 'proxy.a'),
    () => createSeal(undefined).open(sealed, 'proxy.a'),
    () => seal.open(`${sealed.slice(0, -2)}AA`, 'proxy.a'),
    () => seal.open(sealed.slice(0, 20), 'proxy.a'),
    () => seal.open('sealed1:', 'proxy.a'),
    () => seal.open(text, 'proxy.a'),
    () => seal.open('sealed2:abc', 'proxy.a'),
  ];
  for (const open of wrong) {
    const error = t.throws(open, { code: 'INVALID' });
    t.notMatch(inspect(error), /pässword|user/);
  }
});

t.test('without a key it is plain, and a key that comes later reads it', async (t) => {
  const plain = createSeal(undefined).seal(text, 'proxy.a');
  t.equal(createSeal(undefined).open(plain, 'proxy.a'), text);
  t.equal(seal.open(plain, 'proxy.a'), text);
  t.equal(createSeal(undefined).open(createSeal(undefined).seal('sealed1:x', 'a'), 'a'), 'sealed1:x');
});
