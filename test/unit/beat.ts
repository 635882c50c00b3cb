/** Heartbeat records: what is one, what is not, and that nothing gets lost on the way. */
import t from 'tap';
import { isWorkerToBe, parseBeat, scrapersOf, STATUSES, type Beat } from '../../src/domain/beat.ts';
import { decode, encodeJson } from '../../src/wire/codec.ts';

const good: Beat = {
  id: 'w1',
  role: 'worker',
  host: 'host-1',
  place: '0123456789abcdef',
  pid: 17,
  version: '1.2.3',
  startedAt: 1_700_000_000_000,
  beatAt: 1_700_000_030_000,
  status: 'running',
  paused: false,
  inFlight: 3,
  limits: { lanes: 8 },
};

t.test('a record survives the way through the bucket', async (t) => {
  const vitals = { memoryBytes: 5e7, cpuPercent: 12.5, slotsNow: 2, starved: 1, limitedBy: ['memory'] };
  for (const beat of [good, { ...good, http: '127.0.0.1:8080', loopDelayMs: 1.5 }, { ...good, ...vitals }]) {
    t.same(parseBeat(decode(encodeJson(beat))), beat);
  }
  for (const status of STATUSES) t.equal(parseBeat({ ...good, status }).status, status);
});

t.test('a worker has its scrapers from the moment it says so until it drains', async (t) => {
  const scrapers = ['echo'];
  const found = STATUSES.filter((status) => scrapersOf({ ...good, status, scrapers }));
  t.same(found, ['initializing', 'running']);
  t.same(
    STATUSES.filter((status) => isWorkerToBe({ ...good, status })),
    found,
    'also one that has not said it yet',
  );
  t.equal(scrapersOf({ ...good, role: 'sink', scrapers }), undefined);
  t.equal(scrapersOf(undefined), undefined);
});

t.test('fields of a newer version are left out', async (t) => {
  t.same(parseBeat({ ...good, mood: 'fine' }), good);
});

const wrong: readonly [string, unknown, RegExp][] = [
  ['nothing', undefined, /not a heartbeat record/],
  ['a list', [], /not a heartbeat record/],
  ['no id', { ...good, id: '' }, /id:/],
  ['an unknown role', { ...good, role: 'cook' }, /role:/],
  ['an unknown status', { ...good, status: 'asleep' }, /status:/],
  ['no start', { ...good, startedAt: undefined }, /startedAt:/],
  ['a time as text', { ...good, beatAt: '2026-01-01' }, /beatAt:/],
  ['a time that is no whole number', { ...good, beatAt: 1.5 }, /beatAt:/],
  ['pid 0', { ...good, pid: 0 }, /pid:/],
  ['a negative count', { ...good, inFlight: -1 }, /inFlight:/],
  ['slots below nothing', { ...good, slotsNow: -1 }, /slotsNow:/],
  ['a limit as text', { ...good, limits: { lanes: '8' } }, /limits\.lanes:/],
];

t.test('anything else is refused, and the field is named', async (t) => {
  for (const [what, value, message] of wrong)
    t.throws(() => parseBeat(value), { code: 'INVALID', message }, what);
});
