/**
 * Tasks through a cluster of real processes while its workers, coordinators and server are killed and stopped at random.
 * At the end the ledger, with all that it ever held, is held against what was submitted and tried. `SEED=n` repeats
 * the plan of a run (not its timing), `SECONDS=n` makes it longer.
 */
import t from 'tap';
import { runChaos } from '../kit/chaos/run-chaos.ts';
import { chooseSeed } from '../kit/random.ts';

const SHORT_SECONDS = 8;
const TASKS_PER_SECOND = 60;
const seed = chooseSeed();
const seconds = Number(process.env['SECONDS'] ?? SHORT_SECONDS);

t.test('nothing is lost, nothing is settled twice', { timeout: (seconds + 120) * 1_000 }, async (t) => {
  t.comment(`seed ${seed}, ${seconds} s`);
  const report = await runChaos(t, {
    seed,
    seconds,
    tasks: seconds * TASKS_PER_SECOND,
    kinds: { poison: 241, slow: 173, silent: 157, hopeless: 97 },
    faults: ['killWorker', 'pauseWorker', 'killCoordinator', 'pauseCoordinator', 'killServer'],
    drainMaxMs: 60_000,
  });
  t.comment(report.plan);
  t.comment(JSON.stringify(report.numbers));
  t.same(report.broken.slice(0, 20), [], `every promise is kept (seed ${seed}; ${report.folder})`);
  t.ok((report.numbers['done'] ?? 0) > 100, 'work went on');
  if (report.broken.length === 0) report.forget();
});
