/** Which of a message's tasks are its own, and which were there before. */
import t from 'tap';
import { acceptAll } from '../../src/actors/coordinator/accept.ts';
import type { ChangeOutcome, Ledger } from '../../src/actors/coordinator/ports.ts';
import {
  graveRecord,
  homeOf,
  lateRecord,
  queuedRecord,
  type Acceptable,
} from '../../src/actors/coordinator/task-record.ts';
import type { LedgerRecord } from '../../src/domain/task.ts';

type Port = Pick<Ledger, 'accept' | 'readMany'>;

function fakeLedger(options: { full?: boolean; blind?: boolean } = {}): Port & {
  readonly records: Map<string, { seq: number; record: LedgerRecord }>;
} {
  const records = new Map<string, { seq: number; record: LedgerRecord }>();
  let seq = 0;
  const acceptOne = (record: Acceptable): ChangeOutcome => {
    if (options.full) return { kind: 'failed', reason: 'full' };
    if (records.has(record.spec.id)) return { kind: 'refused' };
    seq += 1;
    records.set(record.spec.id, { seq, record });
    return { kind: 'stored', seq };
  };
  return {
    records,
    accept: (given) => Promise.resolve(given.map(acceptOne)),
    readMany: (_, ids) =>
      Promise.resolve(
        new Map(
          ids.flatMap((id) => {
            const found = options.blind ? undefined : records.get(id);
            return found ? [[id, found] as const] : [];
          }),
        ),
      ),
  };
}

const task = (id: string) => ({ id, scraper: 'shop', url: `https://shop.test/${id}`, priority: 0 as const });
const origin = (seq: number) => ({ run: 'r', seq, at: 1_000 + seq });

t.test('a message knows its own tasks again, in every state', async (t) => {
  const ledger = fakeLedger();
  const records = ['a', 'b', 'c'].map((id) => queuedRecord(task(id), origin(1)));
  const first = await acceptAll(ledger, records, origin(1));
  t.same(
    first.ready.map(({ spec, acceptSeq }) => [spec.id, acceptSeq]),
    [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ],
  );
  const { spec } = queuedRecord(task('c'), origin(1));
  ledger.records.set('c', { seq: 9, record: { state: 'cancelled', spec, at: 5, faults: [], reason: 'x' } });
  const again = await acceptAll(ledger, records, origin(1));
  t.same(
    again.ready.map(({ spec: { id }, acceptSeq }) => [id, acceptSeq]),
    [
      ['a', 1],
      ['b', 2],
    ],
    'what is settled is not put into the queue again',
  );
  t.equal(again.known.size, 0, 'and it is no duplicate');
});

t.test('what another message brought is a duplicate', async (t) => {
  const ledger = fakeLedger();
  await acceptAll(ledger, [queuedRecord(task('a'), origin(1))], origin(1));
  const records = ['a', 'b'].map((id) => queuedRecord(task(id), origin(2)));
  for (let delivery = 1; delivery <= 2; delivery += 1) {
    const { ready, known, knownIds } = await acceptAll(ledger, records, origin(2));
    t.same(
      ready.map(({ spec }) => spec.id),
      ['b'],
    );
    t.same([...known], [['r', 1]]);
    t.same([...knownIds], ['a']);
  }
});

t.test('a ledger that is full, or does not show what it refused, makes the message come again', async (t) => {
  const records = [queuedRecord(task('a'), origin(1))];
  const delivery = origin(1);
  await t.rejects(acceptAll(fakeLedger({ full: true }), records, delivery), { code: 'UNAVAILABLE' });
  const blind = fakeLedger({ blind: true });
  await acceptAll(blind, records, delivery);
  await t.rejects(acceptAll(blind, records, delivery), { code: 'UNAVAILABLE' });
});

t.test('dead records say why, and graves keep the bytes within bounds', async (t) => {
  const original = Buffer.alloc(100_000, 'x');
  const grave = graveRecord({ index: 0, id: 'g', scraper: 'shop', reason: 'no url', original }, origin(3));
  t.match(grave, { state: 'dead', error: { code: 'INVALID', message: 'no url' }, spec: { run: 'r' } });
  t.equal(grave.state === 'dead' ? grave.original?.length : 0, 65_536);
  t.match(lateRecord(task('a'), origin(1)), { state: 'dead', error: { code: 'REJECTED' } });
});

t.test('every message has a home, whatever its subject says', async (t) => {
  t.same(homeOf({ scraper: 'shop' }), { id: 'default-shop', scraper: 'shop', standing: true });
  t.same(homeOf({ scraper: 'shop', run: 'r1' }), { id: 'r1', scraper: 'shop', standing: false });
  t.same(homeOf({ scraper: 'shop', run: 'default-shop' }).standing, true);
  t.same(homeOf({ scraper: 'shöp' }), { id: 'default-invalid', scraper: 'invalid', standing: true });
  t.same(homeOf({ scraper: 'shop', run: 'r ü' }).id, 'default-shop');
});
