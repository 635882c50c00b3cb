/**
 * A test of the chaos test: workers and coordinators with a bug in them must be found out, and the same ones without it
 * must not.
 * `SEED=n` repeats the plan of a run.
 */
import t from 'tap';
import { runChaos, type ChaosOptions, type ChaosReport } from '../../kit/chaos/run-chaos.ts';
import type { Rule } from '../../kit/chaos/check.ts';
import type { Bug } from '../../kit/chaos/processes.ts';
import { chooseSeed } from '../../kit/random.ts';
import type { Teardown } from '../../kit/nats-server.ts';

const seed = chooseSeed();

interface Mutant {
  readonly bug: Bug;
  /** What it must be found out by, at least. */
  readonly rule: Rule;
  readonly means: string;
  readonly storm?: Partial<ChaosOptions>;
}

const COORDINATORS: Partial<ChaosOptions> = { faults: ['killCoordinator', 'pauseCoordinator'] };

const MUTANTS: readonly Mutant[] = [
  { bug: 'ack-first', rule: 'I1', means: 'tasks are lost when a worker dies' },
  { bug: 'no-fence', rule: 'I2', means: 'a worker that slept stores a second outcome' },
  { bug: 'drop-failed', rule: 'I1', means: 'tasks whose attempt failed are lost' },
  {
    bug: 'count-own',
    rule: 'I5',
    means: 'outcomes of a worker that died are never counted',
    storm: { faults: ['killWorker', 'pauseWorker'] },
  },
  {
    bug: 'ack-early',
    rule: 'I1',
    means: 'submissions are lost when a coordinator dies',
    storm: COORDINATORS,
  },
  {
    bug: 'count-blind',
    rule: 'I9',
    means: 'duplicates are counted again when a coordinator dies',
    // Of every task it must be known how often it was submitted, and all must be taken in.
    storm: { ...COORDINATORS, requests: false, drainMaxMs: 40_000 },
  },
];

t.comment(`seed ${seed}`);

t.test('without a bug', { timeout: 90_000 }, async (t) => {
  const report = await storm(t, { bug: 'none', drainMaxMs: 60_000 });
  t.comment(JSON.stringify(report.numbers));
  t.same(report.broken.slice(0, 20), [], `every promise is kept (seed ${seed}; ${report.folder})`);
  if (report.broken.length === 0) report.forget();
});

for (const { bug, rule, means, storm: special } of MUTANTS) {
  t.test(`${bug}: ${means}`, { timeout: 90_000 }, async (t) => {
    const report = await storm(t, { bug, drainMaxMs: 20_000, ...special });
    const found = report.broken.filter((broken) => broken.rule === rule);
    t.comment(`${found.length} × ${rule}: ${found[0]?.what ?? 'nothing'} ${JSON.stringify(report.numbers)}`);
    t.ok(found.length > 0, `found out by ${rule} (seed ${seed}; ${report.folder})`);
    if (found.length > 0) report.forget();
  });
}

function storm(t: Teardown, options: Partial<ChaosOptions> & { drainMaxMs: number }): Promise<ChaosReport> {
  return runChaos(t, {
    seed,
    seconds: 6,
    tasks: 400,
    kinds: { hopeless: 97, silent: 83 },
    faults: ['killWorker', 'pauseWorker', 'pauseWorker', 'killServer'],
    ...options,
  });
}
