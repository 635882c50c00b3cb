import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { decode, encode, encodeJson } from '../../src/wire/codec.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

t.test('JSON and msgpack carry the same values', async (t) => {
  const values = [
    {},
    [],
    { a: 1, b: [true, null, 'x'], c: { d: -1.5 } },
    [1, 2, 3],
    { big: 2 ** 40, text: 'ü€😀' },
  ];
  for (const value of values) {
    t.same(decode(encode(value)), value, 'msgpack');
    t.same(decode(encodeJson(value)), value, 'JSON');
  }
});

t.test('a packed message stays what it was when the next one is packed', async (t) => {
  const first = encode({ n: 1 });
  encode({ n: 2, more: 'x'.repeat(100) });
  t.same(decode(first), { n: 1 });
});

t.test('JSON may open with white space', async (t) => {
  t.same(decode(text('\n {"a": 1}')), { a: 1 });
});

t.test('broken and hostile bytes are refused, each with a reason', async (t) => {
  const cases: [string, Uint8Array, RegExp][] = [
    ['empty', new Uint8Array(), /empty/],
    ['broken JSON', text('{"a":'), /looks like JSON but is not/],
    [
      'JSON that is not UTF-8',
      Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
      /looks like JSON but is not/,
    ],
    ['truncated msgpack', encode({ a: 'x'.repeat(50) }).slice(0, 20), /neither JSON nor msgpack/],
    ['prototype key', text('{"__proto__": {"admin": true}}'), /forbidden key: __proto__/],
    ['nested prototype key', text('{"a": [{"constructor": 1}]}'), /forbidden key: constructor/],
    ['deep JSON', text('['.repeat(200) + ']'.repeat(200)), /nested deeper/],
    [
      'deep msgpack',
      Uint8Array.from([...Array<number>(100_000).fill(0x91), 0x01]),
      /neither JSON nor msgpack|nested deeper/,
    ],
  ];
  for (const [name, bytes, reason] of cases) {
    const failure = t.throws(() => decode(bytes), { code: 'INVALID', message: reason }, name);
    t.ok((failure as unknown) instanceof Failure);
  }
});

t.test('a small message that unfolds without end is refused', async (t) => {
  // An array that holds a reference to itself twice, over and over: the bytes of a clone that some packers understand.
  const bomb = Uint8Array.from([0xc9, 0x00, 0x00, 0x00, 0x02, 0x69, 0x92, ...Array<number>(400).fill(0xd4)]);
  t.throws(() => decode(bomb), { code: 'INVALID' });
});

t.test('random bytes never escape as anything but INVALID', async (t) => {
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let round = 0; round < 3_000; round += 1) {
    const bytes = Uint8Array.from({ length: 1 + Math.floor(random() * 40) }, () =>
      Math.floor(random() * 256),
    );
    try {
      decode(bytes);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'INVALID')
        return t.fail(`bytes ${bytes.join()} threw ${String(error)}`);
    }
  }
  return t.pass('3,000 random messages');
});
