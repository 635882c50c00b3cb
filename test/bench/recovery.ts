/**
 * Deaths: a worker is killed with SIGKILL while it has ten tasks of some seconds in hand; told is how long it takes from
 * the kill until each of them is started again. In a cluster whose supervisor starts it again, and where nobody does:
 * then its heartbeat has to end first. Both are measured at once, since most of the second is waiting.
 *
 *   node dist/test/bench/recovery.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { openBench, target } from './harness/report.ts';
import { percentileOf } from './harness/waits.ts';
import { ALONE, killAlone } from './recovery-alone.ts';
import { HELD, KILLED_AFTER_MS, TASK_MS, type KillRow } from './recovery-kills.ts';
import { killSupervised, SUPERVISED } from './recovery-supervised.ts';
import { withTeardown } from './stage.ts';

const bench = openBench('recovery');
const KILLS = bench.size(2 * bench.rounds + 2, 2);
const WORKERS = bench.size(6, 2);
/** As shipped: of silence, after which a worker is dead; and of a lease, where nobody could be asked. */
const DEAD_AFTER_S = 120;
const LEASE_S = 300;

await withTeardown(async (t) => {
  const { recovered } = await killAlone(t, bench, KILLS);
  const [alone, supervised] = await Promise.all([
    recovered(),
    killSupervised(t, bench, { kills: KILLS, workers: WORKERS }),
  ]);
  const rows = [...supervised, ...alone.rows];
  const waits = (way: string): number[] =>
    rows.filter((row) => row.way === way).flatMap(({ waitsMs }) => waitsMs);
  const seconds = (way: string, share: number): number => percentileOf(waits(way), share) / 1_000;
  bench.finish({
    tables: [
      {
        title: 'seconds from the kill until a task is started again',
        head: [
          'the worker is',
          'kills',
          'tasks',
          'p50 s',
          'p99 s',
          'longest s',
          'promised s',
          'each has one outcome',
        ],
        rows: [SUPERVISED, ALONE].map((way) => [
          way,
          String(rows.filter((row: KillRow) => row.way === way).length),
          String(waits(way).length),
          ...[0.5, 0.99, 1].map((share) => seconds(way, share).toFixed(2)),
          `${DEAD_AFTER_S}, at worst ${LEASE_S}`,
          'yes',
        ]),
      },
    ],
    targets: [
      target(`${SUPERVISED}: longest, s`, seconds(SUPERVISED, 1), { max: DEAD_AFTER_S }),
      // A second for the server to let go of the heartbeat, and one to begin.
      target(`${ALONE}: longest, s`, seconds(ALONE, 1), { max: DEAD_AFTER_S + 2 }),
    ],
    absent: [],
    checks: [
      `${ALONE}: ${alone.check}`,
      `${SUPERVISED}: shipped settings but for home, ports, worker.concurrency and the number of workers`,
      'every task has exactly one outcome, by the counters of the ledger',
    ],
    versions: alone.versions,
    samples: `${KILLS} kills each`,
    settings: {
      all: `${HELD} slots; ${HELD} tasks of ${TASK_MS / 1_000} s each, begun ${KILLED_AFTER_MS.map((ms) => ms / 1_000).join(' to ')} s before the kill; others have free slots`,
      [SUPERVISED]: `${WORKERS} workers, killed in turn`,
      [ALONE]:
        'its last heartbeat was 3 s before the kill; with one every 30 s it may be up to 30 s, which are waited less',
    },
    rows,
  });
});
