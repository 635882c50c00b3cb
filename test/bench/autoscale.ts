/**
 * What each policy costs and how long tasks wait for it, in a simulation on a clock of its own: no server, no waiting.
 *
 *   node dist/test/bench/autoscale.js [--quick] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/table.ts';
import type { ScaleLimits } from '../../src/policy/autoscale/limits.ts';
import { runMix, runScenario, scenarios } from '../kit/autoscale-scenarios.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'string' } } });
const seeds = flags.quick ? [1] : [1, 2, 3, 4, 5];

const asWritten: Readonly<Record<string, Partial<ScaleLimits>>> = {
  'drain_time 30 s': {},
  'jobs_per_worker 10/2': { policy: 'jobs_per_worker' },
  'per_worker 1000': { policy: 'per_worker' },
};
const tuned: Readonly<Record<string, Partial<ScaleLimits>>> = {
  ...asWritten,
  ...Object.fromEntries(
    [15, 60, 120, 300].map((s) => [`drain_time ${s} s`, { drainTargetMs: s * 1_000 }] as const),
  ),
  ...Object.fromEntries(
    [5, 15, 20, 50].map(
      (n) =>
        [`jobs_per_worker ${n}/${n / 5}`, { policy: 'jobs_per_worker', jobsUp: n, jobsDown: n / 5 }] as const,
    ),
  ),
  ...Object.fromEntries(
    [10, 20, 50, 200].map((n) => [`per_worker ${n}`, { policy: 'per_worker', perWorker: n }] as const),
  ),
};

const each = scenarios.flatMap((scenario) =>
  Object.entries(asWritten).map(([policy, limits]) => {
    const { decisions, ...report } = runScenario(scenario, limits);
    return { scenario: scenario.name, policy, looks: decisions.length, ...report };
  }),
);
const mix = Object.entries(flags.quick ? asWritten : tuned).map(([policy, limits]) => ({
  policy,
  ...runMix(limits, seeds),
}));

process.stdout.write(
  `${renderTable(
    ['SCENARIO', 'POLICY', 'WORKER-SECONDS', 'MEAN WAIT', 'P95 WAIT', 'DRAINED AT', 'PEAK', 'TURNS'],
    each.map((row) => [
      row.scenario,
      row.policy,
      String(row.workerSeconds),
      row.waitMeanSeconds.toFixed(1),
      row.waitP95Seconds.toFixed(1),
      row.drainedAt.toFixed(0),
      String(row.peak),
      String(row.oscillations),
    ]),
  )}\n\nAll of them under one setting, mean of ${seeds.length} seeds:\n\n${renderTable(
    ['POLICY', 'WORKER-SECONDS', 'MEAN WAIT', 'WORST P95', 'TURNS'],
    mix.map((row) => [
      row.policy,
      row.workerSeconds.toFixed(0),
      row.waitMeanSeconds.toFixed(1),
      row.waitP95Seconds.toFixed(0),
      row.oscillations.toFixed(1),
    ]),
  )}\n`,
);
if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify({ each, mix }, undefined, 2)}\n`);
