import t from 'tap';
import { decideRecheck, decideRefusal, decideSilence, type Evidence } from '../../src/policy/recheck.ts';

t.test('silence: only a compare-and-set leaves evidence', async (t) => {
  t.equal(decideSilence({ expect: 0, repeatable: false }), 'recheck');
  t.equal(decideSilence({ expect: 7, repeatable: true }), 'recheck');
  t.equal(decideSilence({ expect: undefined, repeatable: true }), 'again');
  t.equal(decideSilence({ expect: undefined, repeatable: false }), 'unknown');
});

t.test('a refusal settles a message only if no other copy may exist', async (t) => {
  t.equal(decideRefusal({ code: 10071, doubtful: false, expect: 0 }), 'refused');
  t.equal(decideRefusal({ code: 10077, doubtful: false, expect: undefined }), 'refused');
  t.equal(decideRefusal({ code: 10071, doubtful: true, expect: 0 }), 'recheck');
  t.equal(decideRefusal({ code: 10077, doubtful: true, expect: 3 }), 'recheck');
  t.equal(decideRefusal({ code: 10077, doubtful: true, expect: undefined }), 'unknown');
  for (const code of [10008, 10163, 10164, 10167, 10210]) {
    t.equal(decideRefusal({ code, doubtful: false, expect: 0 }), 'later', `${code} passes by itself`);
    t.equal(decideRefusal({ code, doubtful: true, expect: undefined }), 'later', `${code} passes by itself`);
  }
});

t.test('evidence', async (t) => {
  const base: Evidence = { expect: 5, repeatable: false, mayVanish: false, refused: false, found: undefined };
  const cases: [string, Partial<Evidence>, string][] = [
    ['nothing there', {}, 'again'],
    ['only what was expected is there', { found: { seq: 5, ours: false, expected: 2 } }, 'again'],
    [
      'an older message with our bytes proves nothing',
      { found: { seq: 5, ours: true, expected: 5 } },
      'again',
    ],
    ['ours', { found: { seq: 9, ours: true, expected: 5 } }, 'stored'],
    [
      'ours, although a second copy was refused',
      { refused: true, found: { seq: 9, ours: true, expected: 5 } },
      'stored',
    ],
    ['another with the same expectation', { found: { seq: 9, ours: false, expected: 5 } }, 'beaten'],
    ['a successor of the successor', { found: { seq: 9, ours: false, expected: 7 } }, 'unknown'],
    ['a write without expectation', { found: { seq: 9, ours: false, expected: undefined } }, 'unknown'],
    ['refused, and nothing there: purged or expired', { refused: true }, 'unknown'],
    ['a work queue forgets', { mayVanish: true }, 'unknown'],
    ['a work queue forgets, and twice is harmless', { mayVanish: true, repeatable: true }, 'again'],
    [
      'ours, still in the work queue',
      { mayVanish: true, found: { seq: 6, ours: true, expected: 5 } },
      'stored',
    ],
  ];
  for (const [name, facts, kind] of cases) t.equal(decideRecheck({ ...base, ...facts }).kind, kind, name);
  t.match(decideRecheck({ ...base, found: { seq: 9, ours: true, expected: 5 } }), { kind: 'stored', seq: 9 });
});
