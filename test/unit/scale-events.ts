/** Decisions of the autoscaler, as the events keep them and as they are read back. */
import t from 'tap';
import { readDecisions } from '../../src/cli/scale-events.ts';
import { decide } from '../../src/policy/autoscale/decide.ts';
import { explainDecision } from '../../src/policy/autoscale/explain.ts';
import { SCALE_DEFAULTS } from '../../src/policy/autoscale/limits.ts';
import { makeSnapshot, makeWorker } from '../kit/snapshots.ts';
import { readLoad } from '../../src/policy/autoscale/load.ts';

t.test('what is read back explains itself in the same words', async (t) => {
  const now = 1_700_000_000_000;
  const snapshot = makeSnapshot({
    at: now,
    workers: [makeWorker({ id: 'w1', busy: 3 })],
    queue: { lanes: [], ready: 5_000, running: 3, delayed: 0, intake: 0 },
  });
  const limits = { ...SCALE_DEFAULTS, min: 1 };
  for (const guard of [
    { factors: [], most: 1 },
    { factors: [], fits: 1, fitsBy: 'cores' },
  ]) {
    const decision = decide({ now, load: readLoad(snapshot), ordered: 1, guard }, limits);
    t.equal(decision.limitedBy.length, 1);
    const words = explainDecision(decision);
    const [read] = readDecisions([{ seq: 1, at: now, kind: 'decided', facts: { ...decision, words } }]);
    t.equal(read && explainDecision(read.decision), words);
  }
});
