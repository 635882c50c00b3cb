import t from 'tap';
import { findJsonProblem, memberRanges } from '../../src/wire/json-scan.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

t.test('the place where a text stops being JSON', async (t) => {
  const cases: [string, number | undefined][] = [
    ['{}', undefined],
    [' [1, -2.5e+3, "a\\u00e9\\n", true, false, null, {"a": []}] ', undefined],
    ['"x"', undefined],
    ['', 0],
    ['{', 1],
    ['{"a"', 4],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[1}', 2],
    ['{]', 1],
    ['01', 0],
    ['1.', 0],
    ['[truth]', 1],
    ["{'a':1}", 1],
    ['"a', 0],
    ['"\n"', 0],
    ['["\\x"]', 1],
    ['{} {}', 3],
    ['{"a":1}"', 7],
  ];
  for (const [text, at] of cases) t.equal(findJsonProblem(text)?.at, at, text);
});

t.test('a problem is found exactly where JSON.parse finds one', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  let broken = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const text = disturb(JSON.stringify(randomValue(random, 3), undefined, random.int(0, 1)), random);
    const found = findJsonProblem(text) !== undefined;
    if (found === parses(text)) return t.fail(JSON.stringify(text));
    if (found) broken += 1;
  }
  return t.ok(broken > 1_000 && broken < 19_000, `${broken} of 20,000 were broken`);
});

t.test('the members of an array', async (t) => {
  const text = ' [ 1 ,"a,]\\"" , {"b":[2,{"c":"}"}]},[] , null ] ';
  t.same(
    memberRanges(text).map(([start, end]) => text.slice(start, end)),
    ['1', '"a,]\\""', '{"b":[2,{"c":"}"}]}', '[]', 'null'],
  );
  t.same(memberRanges(' [ ] '), []);
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 3_000; round += 1) {
    const value = Array.from({ length: random.int(0, 6) }, () => randomValue(random, 3));
    const json = JSON.stringify(value, undefined, random.int(0, 2));
    const members = memberRanges(json).map(([start, end]) => JSON.parse(json.slice(start, end)) as unknown);
    if (JSON.stringify(members) !== JSON.stringify(value)) return t.fail(json);
  }
  return t.pass('3,000 arrays');
});

function randomValue(random: Random, depth: number): unknown {
  const scalar = random.pick<unknown>([0, -1.5, 1e30, true, null, '', 'a"\\]},{[:', 'é\n\u0001']);
  if (depth === 0 || random.chance(0.4)) return scalar;
  const members = Array.from({ length: random.int(0, 3) }, () => randomValue(random, depth - 1));
  return random.chance(0.5)
    ? members
    : Object.fromEntries(members.map((member, index) => [`"${index}`, member]));
}

function disturb(text: string, random: Random): string {
  if (random.chance(0.2)) return text;
  const at = random.int(0, text.length);
  const what = random.pick([
    '',
    ',',
    ':',
    '"',
    '\\',
    '[',
    ']',
    '{',
    '}',
    '1',
    '-',
    '.',
    'e',
    't',
    ' ',
    '\n',
    '\u0001',
  ]);
  return text.slice(0, at) + what + text.slice(at + random.int(0, 1));
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
