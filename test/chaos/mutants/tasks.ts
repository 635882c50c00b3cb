/**
 * A test of the chaos test: workers with a bug in them must be found out, and the same workers without it must not.
 * `SEED=n` repeats the plan of a run.
 */
import t from 'tap';
import { runChaos, type ChaosReport } from '../../kit/chaos/run-chaos.ts';
import type { Rule } from '../../kit/chaos/check.ts';
import type { Bug } from '../../kit/chaos/processes.ts';
import { chooseSeed } from '../../kit/random.ts';
import type { Teardown } from '../../kit/nats-server.ts';

const seed = chooseSeed();

/** What each bug must be found out by, at least. */
const MUTANTS: readonly { readonly bug: Bug; readonly rule: Rule; readonly means: string }[] = [
  { bug: 'ack-first', rule: 'I1', means: 'tasks are lost when a worker dies' },
  { bug: 'no-fence', rule: 'I2', means: 'a worker that slept stores a second outcome' },
  { bug: 'drop-failed', rule: 'I1', means: 'tasks whose attempt failed are lost' },
];

t.comment(`seed ${seed}`);

t.test('without a bug', { timeout: 90_000 }, async (t) => {
  const report = await storm(t, { bug: 'none', drainMaxMs: 60_000 });
  t.comment(JSON.stringify(report.numbers));
  t.same(report.broken.slice(0, 20), [], `every promise is kept (seed ${seed}; ${report.folder})`);
  if (report.broken.length === 0) report.forget();
});

for (const { bug, rule, means } of MUTANTS) {
  t.test(`${bug}: ${means}`, { timeout: 60_000 }, async (t) => {
    const report = await storm(t, { bug, drainMaxMs: 12_000 });
    const found = report.broken.filter((broken) => broken.rule === rule);
    t.comment(`${found.length} × ${rule}: ${found[0]?.what ?? 'nothing'} ${JSON.stringify(report.numbers)}`);
    t.ok(found.length > 0, `found out by ${rule} (seed ${seed}; ${report.folder})`);
    if (found.length > 0) report.forget();
  });
}

function storm(t: Teardown, options: { bug: Bug; drainMaxMs: number }): Promise<ChaosReport> {
  return runChaos(t, {
    seed,
    seconds: 6,
    tasks: 400,
    kinds: { hopeless: 97, silent: 83 },
    faults: ['killWorker', 'pauseWorker', 'pauseWorker', 'killServer'],
    ...options,
  });
}
