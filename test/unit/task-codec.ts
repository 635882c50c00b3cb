import t from 'tap';
import { inspect, isDeepStrictEqual } from 'node:util';
import { Packr } from 'msgpackr';
import * as v from 'valibot';
import { Failure } from '../../src/domain/failure.ts';
import {
  PRIORITIES,
  type Fault,
  type LedgerRecord,
  type TaskMessage,
  type TaskSpec,
} from '../../src/domain/task.ts';
import { readTask } from '../../src/wire/read-task.ts';
import { describeRecord } from '../../src/wire/describe-record.ts';
import {
  addStamp,
  decodeCount,
  decodeRecord,
  decodeStored,
  decodeTask,
  encodeCount,
  encodeRecord,
  encodeStamp,
  encodeTask,
  taskShape,
  type CountRecord,
} from '../../src/wire/task-codec.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const packr = new Packr({ useRecords: false });
const spec: TaskSpec = {
  id: 'i',
  run: 'r',
  scraper: 's',
  url: 'https://a.example/',
  priority: 3,
  createdAt: 1_000,
};
const fault: Fault = { at: 5, code: 'NETWORK', message: 'no', worker: 'w', ms: 12.5 };
const dead: LedgerRecord = {
  state: 'dead',
  spec,
  at: 2_000,
  faults: [fault],
  error: { code: 'INVALID', message: 'no task' },
  original: Uint8Array.of(0, 255, 10),
};

t.test('whatever is stored comes back', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 2_000; round += 1) {
    const record = randomRecord(random);
    const task = randomTask(random);
    const count = randomCount(random);
    if (!isDeepStrictEqual(decodeRecord(encodeRecord(record)), record)) return t.fail(inspect(record));
    if (!isDeepStrictEqual(decodeTask(encodeTask(task)), task)) return t.fail(inspect(task));
    if (!isDeepStrictEqual(decodeCount(encodeCount(count)), count)) return t.fail(inspect(count));
  }
  return t.pass('2,000 of each');
});

t.test('the quick way takes only what the schema takes, and gives the same', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  let quick = 0;
  for (let round = 0; round < 5_000; round += 1) {
    const { deferredSince, ...tried } = randomTask(random);
    const since = deferredSince === undefined ? {} : { deferredSince };
    const fresh = random.chance(0.8) ? { ...tried, faults: [], triedProxies: [] } : { ...tried, ...since };
    const task = spoil(fresh, random);
    const value = random.chance(0.5) ? { ...task, spec: spoil({ ...task.spec }, random) } : task;
    const taken = readTask(value);
    if (!taken) continue;
    quick += 1;
    const checked = v.safeParse(taskShape, value);
    if (!checked.success || !isDeepStrictEqual(taken, checked.output)) return t.fail(inspect(value));
  }
  return t.ok(quick > 500, `${quick} taken the quick way`);
});

/** Now and then with a field that is missing, of another kind, or not known. */
function spoil<T extends object>(value: T, random: Random): T {
  if (random.chance(0.6)) return value;
  const name = random.pick(['depth', 'parent', 'input', 'news', ...Object.keys(value)]);
  const other = random.pick([1, -1, 1.5, 'text', null, [], {}, [1], NaN, true]);
  const rest = Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
  return (random.chance(0.3) ? rest : { ...value, [name]: other }) as T;
}

t.test('bytes come back as bytes, and keys as they were', async (t) => {
  const back = decodeRecord(encodeRecord(dead));
  t.ok(back.state === 'dead' && back.original instanceof Uint8Array);
  t.same([...((back.state === 'dead' && back.original) || [])], [0, 255, 10]);
  const items = [
    { constructor: 'Ferrari', prototype: 1, n: -0.5, big: 2 ** 52, when: new Date(7), raw: Buffer.of(1) },
  ];
  const done: LedgerRecord = {
    ...settled(),
    state: 'done',
    worker: 'w',
    startedAt: 1,
    result: { items, pages: 1, bytes: 2 },
  };
  t.strictSame(decodeRecord(encodeRecord(done)), done);
});

t.test('a record stays what it was when the next one is packed', async (t) => {
  const first = encodeRecord(dead);
  const copy = Buffer.from(first);
  for (let n = 0; n < 1_000; n += 1) encodeTask(randomTask(createRandom(n)));
  t.ok(copy.equals(first));
});

t.test('a stamp is beside the record, not in it', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 1_000; round += 1) {
    const record = randomRecord(random);
    const by = { writer: randomText(random), group: seq(random) };
    const bytes = addStamp(encodeRecord(record), encodeStamp(by));
    if (!isDeepStrictEqual(decodeStored(bytes), { record, by })) return t.fail(inspect(record));
    if (!isDeepStrictEqual(decodeRecord(bytes), record)) return t.fail(inspect(record));
  }
  t.strictSame(decodeStored(encodeRecord(dead)), { record: decodeRecord(encodeRecord(dead)) });
  t.throws(() => addStamp(packr.pack([1]), encodeStamp({ writer: 'w', group: 1 })), { code: 'INTERNAL' });
  const forged = packr.pack({ v: 1, ...dead, by: { writer: 'w' } });
  t.throws(() => decodeStored(forged), { code: 'INVALID', message: /group/ });
  return t.pass('1,000 records');
});

t.test('other readers see plain maps with a version', async (t) => {
  t.match(packr.unpack(encodeRecord(dead)), { v: 1, state: 'dead', spec: { id: 'i' } });
  t.ok(
    encodeRecord({ state: 'queued', spec: { ...spec, intake: 7 }, at: 2_000, faults: [] }).length < 140,
    'and are small',
  );
});

t.test('fields of a newer program are left out, and fields that are undefined', async (t) => {
  const newer = packr.pack({ v: 1, ...dead, spec: { ...spec, shade: 'blue' }, mood: 'good' });
  t.strictSame(decodeRecord(newer), decodeRecord(encodeRecord(dead)));
  const loose = {
    ...dead,
    spec: { ...spec, key: undefined },
    original: undefined,
  } as unknown as LedgerRecord;
  t.notOk('original' in decodeRecord(encodeRecord(loose)));
  t.strictSame(decodeCount(packr.pack({ v: 1, accepted: 4 })), {
    ...zeros(),
    accepted: 4,
    recent: [],
    extra: [],
  });
});

t.test('what is no record is INVALID, with the field that is wrong', async (t) => {
  const bad: [string, Uint8Array, RegExp][] = [
    ['empty', new Uint8Array(), /the bytes are not msgpack/],
    ['cut', encodeRecord(dead).slice(0, 40), /the bytes are not msgpack/],
    ['more than one', Buffer.concat([encodeRecord(dead), Uint8Array.of(1)]), /the bytes are not msgpack/],
    ['a number', packr.pack(5), /hold no map/],
    ['a list', packr.pack([1]), /of version 1/],
    ['no version', packr.pack(dead), /not a ledger record of version 1/],
    ['a later version', packr.pack({ ...dead, v: 2 }), /not a ledger record of version 1/],
    ['another state', packr.pack({ ...dead, v: 1, state: 'lost' }), /state/],
    ['no spec', packr.pack({ ...dead, v: 1, spec: undefined }), /spec/],
    ['priority 10', packr.pack({ ...dead, v: 1, spec: { ...spec, priority: 10 } }), /spec\.priority/],
    ['input of another kind', packr.pack({ ...dead, v: 1, spec: { ...spec, input: [] } }), /spec\.input/],
    ['a fault without code', packr.pack({ ...dead, v: 1, faults: [{ at: 1 }] }), /faults\.0\.code/],
    ['original as text', packr.pack({ ...dead, v: 1, original: 'x' }), /original/],
  ];
  for (const [name, bytes, message] of bad)
    t.throws(() => decodeRecord(bytes), { name: 'Failure', code: 'INVALID', message }, name);
  t.throws(() => decodeTask(encodeRecord(dead)), { code: 'INVALID', message: /not a task: acceptSeq/ });
  t.throws(() => decodeCount(packr.pack({ v: 1, accepted: -1 })), { code: 'INVALID', message: /accepted/ });
});

t.test('random bytes and changed records never escape as anything but INVALID', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 10_000; round += 1) {
    const bytes = Buffer.from(
      random.chance(0.5) ? encodeRecord(randomRecord(random)) : Buffer.alloc(random.int(0, 50)),
    );
    for (let change = random.int(1, 20); change > 0 && bytes.length > 0; change -= 1)
      bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
    for (const decode of [decodeRecord, decodeStored, decodeTask, decodeCount]) {
      try {
        decode(bytes);
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'INVALID')
          return t.fail(`${bytes.toString('hex')}: ${String(error)}`);
      }
    }
  }
  return t.pass('10,000 messages');
});

t.test('what cannot be stored is refused in words', async (t) => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const item of [circle, 2n ** 80n]) {
    const result = { items: [item], pages: 0, bytes: 0 };
    const done: LedgerRecord = { ...settled(), state: 'done', worker: 'w', startedAt: 1, result };
    t.throws(() => encodeRecord(done), { code: 'INVALID', message: /a ledger record cannot be stored/ });
  }
});

t.test('a record for people', async (t) => {
  t.strictSame(describeRecord({ ...dead, original: Buffer.from('http://admin:s3cret@a.example/ é') }), {
    state: 'dead',
    id: 'i',
    run: 'r',
    scraper: 's',
    url: 'https://a.example/',
    priority: 3,
    createdAt: '1970-01-01T00:00:01.000Z',
    at: '1970-01-01T00:00:02.000Z',
    faults: [{ at: '1970-01-01T00:00:00.005Z', code: 'NETWORK', message: 'no', worker: 'w', ms: 12.5 }],
    error: { code: 'INVALID', message: 'no task' },
    original: 'http://***@a.example/ é',
  });
  t.match(describeRecord(dead), { originalBase64: 'AP8K' });
  t.match(
    describeRecord({ state: 'queued', spec: { ...spec, notBefore: 0, intake: 7 }, at: 0, faults: [] }),
    {
      notBefore: '1970-01-01T00:00:00.000Z',
      intake: 7,
    },
  );
  t.match(describeRecord({ ...settled(), state: 'cancelled', reason: 'why' }), { reason: 'why' });
  const items = [
    { raw: Uint8Array.of(1), big: 5n, when: new Date(0), not: NaN, gone: undefined, list: [true, null, 'x'] },
  ];
  const done: LedgerRecord = {
    ...settled(),
    state: 'done',
    worker: 'w',
    startedAt: 0,
    result: { items, pages: 1, bytes: 2 },
  };
  t.strictSame(describeRecord(done)['result'], {
    items: [{ raw: 'AQ==', big: '5', when: '1970-01-01T00:00:00.000Z', not: null, list: [true, null, 'x'] }],
    pages: 1,
    bytes: 2,
  });
});

t.test('every record has a JSON view', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 1_000; round += 1) JSON.stringify(describeRecord(randomRecord(random)));
  t.pass('1,000 records');
});

function settled(): { spec: TaskSpec; at: number; faults: Fault[] } {
  return { spec, at: 2_000, faults: [] };
}

function zeros(): Omit<CountRecord, 'recent' | 'extra'> {
  return { accepted: 0, duplicates: 0, done: 0, dead: 0, cancelled: 0, redriven: 0, items: 0, group: 0 };
}

function randomRecord(random: Random): LedgerRecord {
  const common = { spec: randomSpec(random), at: seq(random), faults: list(random, randomFault) };
  switch (random.int(0, 3)) {
    case 0:
      return { ...common, state: 'queued' };
    case 1:
      return { ...common, state: 'cancelled', reason: randomText(random) };
    case 2: {
      const original = random.chance(0.5) ? {} : { original: randomBytes(random) };
      return {
        ...common,
        state: 'dead',
        error: { code: 'INVALID', message: randomText(random) },
        ...original,
      };
    }
    default: {
      const data = random.chance(0.5) ? {} : { data: randomValue(random, 3) };
      const result = {
        items: list(random, (r) => randomValue(r, 3)),
        pages: seq(random),
        bytes: seq(random),
        ...data,
      };
      return { ...common, state: 'done', worker: randomText(random), startedAt: seq(random), result };
    }
  }
}

function randomTask(random: Random): TaskMessage {
  return {
    spec: randomSpec(random),
    acceptSeq: seq(random),
    faults: list(random, randomFault),
    triedProxies: list(random, randomText),
    deferrals: seq(random),
  };
}

function randomCount(random: Random): CountRecord {
  const entries = Object.keys(zeros()).map((name) => [name, seq(random)] as const);
  return {
    ...zeros(),
    ...Object.fromEntries(entries),
    recent: list(random, seq),
    extra: list(random, seq),
  };
}

function randomSpec(random: Random): TaskSpec {
  return {
    id: randomText(random),
    run: randomText(random),
    scraper: randomText(random),
    ...(random.chance(0.5) && { url: randomText(random) }),
    ...(random.chance(0.5) && { key: randomText(random) }),
    ...(random.chance(0.5) && { input: { a: randomValue(random, 3), constructor: randomValue(random, 1) } }),
    priority: random.pick([...PRIORITIES]),
    createdAt: seq(random),
    ...(random.chance(0.5) && { notBefore: seq(random) }),
    ...(random.chance(0.5) && { intake: seq(random) }),
  };
}

function randomFault(random: Random): Fault {
  const proxy = random.chance(0.5) ? {} : { proxy: randomText(random) };
  return {
    at: seq(random),
    code: 'NETWORK',
    message: randomText(random),
    worker: 'w',
    ms: random.next() * 1e5,
    ...proxy,
  };
}

function randomValue(random: Random, depth: number): unknown {
  if (depth > 0 && random.chance(0.5)) {
    const members = list(random, (r) => randomValue(r, depth - 1));
    return random.chance(0.5)
      ? members
      : Object.fromEntries(members.map((member, n) => [`${randomText(random)}${n}`, member]));
  }
  return random.pick<unknown>([
    null,
    true,
    false,
    seq(random),
    -seq(random),
    random.next(),
    randomText(random),
    randomBytes(random),
  ]);
}

function seq(random: Random): number {
  return Math.floor(2 ** (random.next() * 53));
}

function randomText(random: Random): string {
  const alphabet = ['a', 'Z', '0', ' ', '"', '\0', '\n', 'é', '€', '😀', '__proto', '\\'] as const;
  return Array.from({ length: random.int(0, random.chance(0.05) ? 300 : 12) }, () =>
    random.pick([...alphabet]),
  ).join('');
}

function randomBytes(random: Random): Uint8Array {
  return Buffer.from(Uint8Array.from({ length: random.int(0, 20) }, () => random.int(0, 255)));
}

function list<T>(random: Random, make: (random: Random) => T): T[] {
  return Array.from({ length: random.int(0, 3) }, () => make(random));
}
