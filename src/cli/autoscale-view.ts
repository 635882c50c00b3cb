/** What `trawl autoscale` prints for a person. */
import type { ScaleLimits } from '../policy/autoscale/limits.ts';
import type { SimulationReport } from '../policy/autoscale/simulate.ts';
import type { Decided } from './scale-events.ts';
import type { LeaderStatus } from './scale-status.ts';
import { renderAge, renderTable } from './table.ts';

export function describeStatus(status: LeaderStatus, now: number): string {
  const { leader, driver, source, limits, intervalMs, record, decision, decidedAt, words } = status;
  const counts = Object.entries(record?.decisions ?? {}).map(([action, count]) => `${count} ${action}`);
  return [
    `leader     ${leader}`,
    `policy     ${describePolicy(limits)}`,
    `workers    ${record ? `${record.desired} wanted, ` : ''}${limits.min} to ${limits.max}`,
    `driver     ${driver}${driver === 'none' ? ' (only advice)' : ''}`,
    `source     ${source}, every ${renderAge(intervalMs)}`,
    `cooldowns  ${renderAge(limits.cooldownUpMs)} up, ${renderAge(limits.cooldownDownMs)} down`,
    `changed    up ${ago(record?.lastUpAt, now)}, down ${ago(record?.lastDownAt, now)}`,
    `decisions  ${counts.join(', ') || 'none yet'}`,
    ...(decision
      ? [
          `last       ${decision.action} ${decision.from} → ${decision.to}, ${ago(decidedAt, now)}: ${words ?? decision.reason}`,
        ]
      : []),
  ].join('\n');
}

export function describeExplain(status: LeaderStatus, changes: readonly Decided[], now: number): string {
  const { decision, words, decidedAt, limits } = status;
  if (!decision) return 'Nothing was decided yet: the first look comes at once when a leader is there.';
  const load = decision.inputs.load;
  const { need, backlog, guard } = decision.inputs;
  const lines = [`${decision.to} workers, decided ${ago(decidedAt, now)}: ${words ?? decision.reason}.`, ''];
  if (load) {
    const number = (name: string): number => load[name] ?? 0;
    const inflow = load['inflowPerSecond'];
    const taskMs = load['taskMs'];
    lines.push(
      `to do      ${backlog ?? 0}: ${number('ready')} ready, ${number('running')} running${some(number('queuedRuns'), 'runs that wait')}`,
      `no load    ${number('delayed')} wait for their time, ${number('starved')} for egress`,
      `workers    ${number('live')} there, ${number('busy')} tasks in their slots (${(load['slots'] ?? limits.slots).toFixed(1)} each)${some(number('draining'), 'drain')}`,
      `pace       ${taskMs === undefined ? 'unknown' : `${(taskMs / 1_000).toFixed(2)} s a task`}, ${number('donePerSecond').toFixed(2)} done a second${inflow === undefined ? '' : `, ${inflow.toFixed(2)} come in`}`,
    );
  }
  lines.push(
    `policy     ${describePolicy(limits)}${need === undefined ? '' : ` → ${need}`}`,
    `limits     ${limits.min} to ${limits.max}${decision.limitedBy.length > 0 ? `; limited by ${decision.limitedBy.join(', ')}` : ''}${guard && guard.factors.length > 0 ? `; this machine: ${guard.factors.join(', ')}` : ''}`,
  );
  if (changes.length > 0)
    lines.push('', 'The last changes:', ...changes.map((each) => `  ${describeChange(each)}`));
  return lines.join('\n');
}

export function describeHistory(decisions: readonly Decided[], looks: number): string {
  if (decisions.length === 0)
    return looks === 0 ? 'No decision is recorded.' : `Nothing was changed in ${looks} looks.`;
  return renderTable(
    ['TIME', 'ACTION', 'WORKERS', 'BACKLOG', 'WHY'],
    decisions.map(({ at, decision, words }) => [
      new Date(at).toISOString().slice(0, 19).replace('T', ' '),
      decision.action,
      `${decision.from} → ${decision.to}`,
      String(decision.inputs.backlog ?? '-'),
      words || decision.reason,
    ]),
  );
}

export function describeReplay(tried: {
  readonly limits: ScaleLimits;
  readonly now: ScaleLimits;
  readonly recorded: { readonly looks: number; readonly workerSeconds: number };
  readonly same: SimulationReport;
  readonly other: SimulationReport;
}): string {
  const row = (name: string, report: SimulationReport): string[] => [
    name,
    String(report.workerSeconds),
    report.waitMeanSeconds.toFixed(1),
    report.waitP95Seconds.toFixed(1),
    report.drainedAt.toFixed(0),
    String(report.peak),
    String(report.changes),
    String(report.oscillations),
  ];
  return [
    renderTable(
      ['POLICY', 'WORKER-SECONDS', 'MEAN WAIT', 'P95 WAIT', 'DONE AT', 'PEAK', 'CHANGES', 'TURNS'],
      [
        row(`${describePolicy(tried.now)} (as it is)`, tried.same),
        row(describePolicy(tried.limits), tried.other),
      ],
    ),
    '',
    `Simulated from ${tried.recorded.looks} recorded looks; really used: ${tried.recorded.workerSeconds} worker-seconds. Times are in seconds.`,
  ].join('\n');
}

function describePolicy(limits: ScaleLimits): string {
  switch (limits.policy) {
    case 'drain_time':
      return `drain_time within ${renderAge(limits.drainTargetMs)}`;
    case 'jobs_per_worker':
      return `jobs_per_worker ${limits.jobsDown} to ${limits.jobsUp}`;
    case 'per_worker':
      return `per_worker ${limits.perWorker}`;
  }
}

function describeChange({ at, decision, words }: Decided): string {
  const time = new Date(at).toISOString().slice(11, 19);
  return `${time}  ${decision.action} ${decision.from} → ${decision.to}: ${words || decision.reason}`;
}

function ago(at: number | undefined, now: number): string {
  return at === undefined ? 'never' : `${renderAge(now - at)} ago`;
}

function some(count: number, words: string): string {
  return count > 0 ? `, ${count} ${words}` : '';
}
