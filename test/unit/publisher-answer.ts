import t from 'tap';
import { createAnswerReader } from '../../src/nats/publisher/answer.ts';
import { bytesOf } from '../kit/publisher-check.ts';

const read = createAnswerReader('LEDGER');
const answer = (text: string): unknown => read(bytesOf(text));

t.test('the plain answer', async (t) => {
  t.same(answer('{"stream":"LEDGER","seq":1}'), { kind: 'stored', seq: 1 });
  t.same(answer('{"stream":"LEDGER","seq":9007199254740991}'), {
    kind: 'stored',
    seq: Number.MAX_SAFE_INTEGER,
  });
});

t.test('other spellings of the same', async (t) => {
  t.same(answer('{"stream":"LEDGER", "seq":12}'), { kind: 'stored', seq: 12 });
  t.same(answer('{"stream":"LEDGER","seq":12,"duplicate": true}'), { kind: 'stored', seq: 12 });
  t.same(answer('{"stream":"LEDGER","domain":"hub","seq":12}'), { kind: 'stored', seq: 12 });
});

t.test('a batch', async (t) => {
  t.same(answer('{"stream":"LEDGER","seq":6,"batch":"b1","count":3}'), {
    kind: 'committed',
    seq: 6,
    batch: 'b1',
    count: 3,
  });
});

t.test('refusals', async (t) => {
  t.same(
    answer(
      '{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 2"},"stream":"LEDGER","seq":0}',
    ),
    { kind: 'refused', code: 10071, reason: 'wrong last sequence: 2' },
  );
  t.match(answer('{"error":{"code":503}}'), { kind: 'refused', code: 503 });
  t.match(answer('{"stream":"OTHER","seq":4}'), { kind: 'refused', code: 10060, reason: /OTHER/ });
});

t.test('what makes no sense is no answer', async (t) => {
  for (const text of ['', '{', '+OK', '{"stream":"LEDGER","seq":'])
    t.match(answer(text), { kind: 'silence' });
});
