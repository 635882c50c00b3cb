/** Whatever bytes arrive: tasks and problems come out, never a throw, never a hang, and nothing submitted vanishes. */
import t from 'tap';
import { encode } from '../../src/wire/codec.ts';
import { parseSubmission, type ParsedSubmission } from '../../src/wire/submission.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const GOOD = 'https://good.example/';

function parse(data: Uint8Array, header?: string): ParsedSubmission {
  const headers = (): string | undefined => header;
  return parseSubmission({ subject: { scraper: 's' }, headers, data, now: 0, limits: SUBMISSION_LIMITS });
}

t.test('msgpack that a general reader would trip over', async (t) => {
  const cases: [string, number[], RegExp][] = [
    ['a reference', [0xd6, 0x69, 0, 0, 0, 0, 0x90], /neither text nor msgpack/],
    ['a pointer in a list', [0x91, 0xd6, 0x70, 0, 0, 0, 0], /not an array|extension/],
    ['a record', [0x91, 0x81, 0xa1, 0x61, 0xd4, 0x72, 0x40], /extension/],
    ['a date', [0x91, 0x81, 0xa1, 0x61, 0xd6, 0xff, 0, 0, 0, 0], /extension/],
    ['a long extension', [0x91, 0x81, 0xa1, 0x61, 0xc7, 2, 0x78, 1, 2], /extension/],
    ['not a number', [0x91, 0x81, 0xa1, 0x61, 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0], /not finite/],
    ['a huge number', [0x91, 0x81, 0xa1, 0x61, 0xcf, 255, 255, 255, 255, 255, 255, 255, 255], /beyond 2\^53/],
    ['a text that is not UTF-8', [0x91, 0x81, 0xa1, 0x61, 0xa1, 0xff], /not UTF-8/],
    ['a key that is not UTF-8', [0x91, 0x81, 0xa1, 0xff, 0xa1, 0x61], /not UTF-8/],
    ['a key that is no text', [0x91, 0x81, 0x01, 0x01], /key that is not text/],
    ['a key that is a map', [0x91, 0x81, 0x80, 0x01], /key that is not text/],
    ['a list that says it has four thousand million members', [0xdd, 255, 255, 255, 255, 1], /cut short/],
    ['a map that says so', [0xdf, 255, 255, 255, 255, 1], /cut short/],
    ['a text that says so', [0xdb, 255, 255, 255, 255, 1], /cut short/],
    ['a length that is cut', [0xdb, 255], /cut short/],
    ['bytes alone', [0xc4, 2, 1, 2], /a task is a URL or an object, not bytes/],
  ];
  for (const [name, bytes, reason] of cases) {
    const { requests, problems } = parse(Uint8Array.from(bytes));
    t.equal(requests.length, 0, name);
    t.match(problems, [{ index: 0, reason }], name);
    t.equal(problems.length, 1, name);
  }
});

t.test('references that unfold without end are not followed', async (t) => {
  const levels = 60;
  const bomb = [0xdc, 0, levels + 1, 0xd6, 0x69, 0, 0, 0, 0, 0x90];
  for (let id = 1; id <= levels; id += 1)
    bomb.push(0xd6, 0x69, 0, 0, 0, id, 0x92, 0xd6, 0x70, 0, 0, 0, id - 1, 0xd6, 0x70, 0, 0, 0, id - 1);
  t.equal(parse(Uint8Array.from(bomb)).requests.length, 0);
});

t.test('depth and size', async (t) => {
  const deep = 200_000;
  // In an array of one, the member that is refused is what stands inside the outer brackets.
  const outside: Readonly<Record<string, number>> = { 'deep JSON': 2, 'deep msgpack': 1 };
  const cases: [string, Uint8Array][] = [
    ['deep JSON', text('['.repeat(deep) + ']'.repeat(deep))],
    ['deep JSON, cut', text('['.repeat(deep))],
    ['deep JSON objects', text(`${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`)],
    ['deep msgpack', Uint8Array.from([...Array<number>(deep).fill(0x91), 0x01])],
    ['deep msgpack, cut', new Uint8Array(deep).fill(0x91)],
    ['a megabyte of one text', text(`"${'x'.repeat(1 << 20)}"`)],
    ['a megabyte of a text that is not closed', text(`{"a":"${'\\n'.repeat(1 << 19)}`)],
    ['a megabyte of quotes', text('"'.repeat(1 << 20))],
    ['a megabyte of spaces', new Uint8Array(1 << 20).fill(0x20)],
    ['a megabyte of zeros', new Uint8Array(1 << 20)],
    ['a megabyte of digits', text('1'.repeat(1 << 20))],
    ['a long address', text(`https://${'a.'.repeat(1 << 19)}`)],
  ];
  for (const [name, data] of cases) {
    const { requests, problems } = parse(data);
    t.same([requests.length, problems.length], [0, 1], name);
    t.ok((problems[0]?.reason.length ?? 0) < 200, `${name}: the reason is short`);
    t.equal(problems[0]?.original.length, data.length - (outside[name] ?? 0), name);
  }
  const commas = parse(text(`[${'1,'.repeat(9_999)}1]`));
  t.equal(commas.problems.length, 10_000);
  const feeds = parse(text(`${GOOD}${'\n'.repeat(1 << 20)}`));
  t.equal(feeds.requests.length, 1);
});

t.test('keys that reach into JavaScript change nothing', async (t) => {
  const bodies = [
    '{"__proto__":{"url":"x"}}',
    '{"input":{"__proto__":{"a":1}}}',
    '{"constructor":{"prototype":{"a":1}}}',
  ];
  for (const body of bodies) t.match(parse(text(body)).problems, [{ reason: /forbidden key/ }], body);
  t.equal(({} as Record<string, unknown>)['a'], undefined);
  const inherited = parse(text('{"toString":"x","hasOwnProperty":1}'));
  t.same(inherited.requests[0]?.input, { toString: 'x', hasOwnProperty: 1 }, 'other names are only names');
});

t.test('random bytes, and good messages with a few bytes changed', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  const samples = [
    text(`${GOOD}1\n{"url":"${GOOD}2","priority":3}\n"${GOOD}3"\n`),
    text(JSON.stringify([{ url: GOOD, input: { a: [1, 'é', null] } }, `${GOOD}4`], undefined, 1)),
    encode([{ url: GOOD, priority: 3, input: { a: [1, 'é', null, 2 ** 40, -5] } }, `${GOOD}5`]),
    encode({ url: GOOD, key: 'k', notBefore: 2 ** 40, body: Uint8Array.of(1, 2) }),
  ] as const;
  for (let round = 0; round < 20_000; round += 1) {
    const data = round % 2 === 0 ? randomBytes(random) : mutate(random.pick([...samples]), random);
    const header = random.chance(0.1) ? Buffer.from(randomBytes(random)).toString('latin1') : undefined;
    const shown = (): string => `${Buffer.from(data).toString('hex')} (${header ?? 'no header'})`;
    try {
      const { requests, problems, duplicates } = parse(data, header);
      if (requests.length + problems.length + duplicates === 0) return t.fail(`vanished: ${shown()}`);
      if (problems.some(({ reason, id }) => reason === '' || id.length !== 22))
        return t.fail(`unclear: ${shown()}`);
    } catch (error) {
      return t.fail(`${String(error)}: ${shown()}`);
    }
  }
  return t.pass('20,000 messages');
});

t.test('random members: each comes out once, and a problem keeps its bytes', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 500; round += 1) {
    const members = Array.from({ length: random.int(1, 20) }, (_, index) =>
      random.pick<unknown>([
        `${GOOD}${index}`,
        { url: `${GOOD}${index}` },
        { url: index },
        'x',
        null,
        [index],
        { n: index },
      ]),
    );
    const counts = new Set<string>();
    const layouts: [Uint8Array, (value: unknown) => Uint8Array][] = [
      [text(JSON.stringify(members, undefined, random.int(0, 2))), (value) => text(JSON.stringify(value))],
      [encode(members), encode],
    ];
    for (const [data, one] of layouts) {
      const { requests, problems, duplicates } = parse(data);
      counts.add(`${requests.length} ${problems.length} ${duplicates}`);
      if (requests.length + problems.length + duplicates !== members.length)
        return t.fail(JSON.stringify(members));
      for (const { index, original } of problems) {
        const same = Buffer.from(original).toString('latin1').replace(/\s/g, '');
        if (same !== Buffer.from(one(members[index])).toString('latin1').replace(/\s/g, ''))
          return t.fail(`${index} of ${JSON.stringify(members)}`);
      }
    }
    if (counts.size !== 1) return t.fail(`layouts differ: ${JSON.stringify(members)}`);
  }
  return t.pass('500 messages');
});

function randomBytes(random: Random): Uint8Array {
  return Uint8Array.from({ length: random.int(0, 60) }, () => random.int(0, 255));
}

function mutate(sample: Uint8Array, random: Random): Uint8Array {
  const data = sample.slice(0, random.chance(0.3) ? random.int(0, sample.length) : sample.length);
  for (let change = random.int(1, 4); change > 0 && data.length > 0; change -= 1)
    data[random.int(0, data.length - 1)] = random.int(0, 255);
  return data;
}
