/** A decision in words, from what is stored of it: the log, the history and `explain` say the same. */
import type { ScaleDecision, ScaleInputs } from './decide.ts';

export function explainDecision(decision: ScaleDecision): string {
  return [whyOf(decision), limitsOf(decision)].filter((part) => part !== '').join('; ');
}

function whyOf({ reason, from, to, inputs }: ScaleDecision): string {
  switch (reason) {
    case 'no-metrics':
      return 'nobody could measure the cluster, so nothing is changed';
    case 'stale-metrics':
      return 'the last measurement is too old, so nothing is changed';
    case 'below-min':
      return `${count(from)}, fewer than the least number ${to}`;
    case 'above-max':
      return `${count(from)}, more than the greatest number ${to}`;
    case 'from-zero':
      return `no worker, and ${tasks(inputs)} to do`;
    case 'steady':
      return `${count(from)} for ${tasks(inputs)}${byWhat(inputs)}`;
    case 'cooldown':
      return `${needOf(inputs)}; rests until ${clock(inputs.restsUntil)}`;
    case 'manual':
      return 'somebody asked for it';
    case 'limited':
    case 'backlog':
    case 'in-use':
    case 'idle':
    case 'between':
    case 'unknown-duration':
      return needOf(inputs);
  }
}

function needOf(inputs: ScaleInputs): string {
  const need = inputs.need ?? 0;
  switch (inputs.needReason) {
    case 'in-use':
      return `${count(need)} would do: that many are in use`;
    case 'idle':
      return `${count(need)} would do for ${tasks(inputs)}${byWhat(inputs)}`;
    case 'unknown-duration':
      return `every slot is busy with tasks of unknown length and ${inputs.load?.ready ?? 0} wait: ${count(need)} needed`;
    case 'between':
      return `${count(need)} for ${tasks(inputs)}: between the thresholds`;
    case 'backlog':
    case undefined:
      return `${count(need)} needed for ${tasks(inputs)}${byWhat(inputs)}`;
  }
}

function limitsOf({ limitedBy, inputs }: ScaleDecision): string {
  return limitedBy.map((name) => LIMITS[name]?.(inputs) ?? `limited by ${name}`).join('; ');
}

const LIMITS: Readonly<Record<string, (inputs: ScaleInputs) => string>> = {
  egress: ({ load }) =>
    `egress feeds no more: ${load?.starved ?? 0} of ${load?.busy ?? 0} busy slots wait for it`,
  max: () => 'the greatest number is reached',
  cores: ({ guard }) => `no more than ${guard?.fits ?? 0} for the cores of this machine`,
  cpu: () => 'the processors of this machine are busy',
  memory: ({ guard }) =>
    guard?.factors.includes('memory') === false
      ? `no more than ${guard.fits ?? 0} fit into the memory of this machine`
      : 'the memory of this machine is nearly full',
  machine: ({ guard }) => `no more than ${guard?.most ?? 0}, as many as may run on this machine`,
  disk: () => 'the disk of this machine is nearly full',
  load: () => 'the load of this machine is too high',
};

function byWhat({ load }: ScaleInputs): string {
  if (load?.taskMs === undefined) return '';
  return ` of ${seconds(load.taskMs)} each`;
}

function tasks({ backlog = 0 }: ScaleInputs): string {
  return backlog === 1 ? '1 task' : `${backlog} tasks`;
}

function count(workers: number): string {
  return workers === 1 ? '1 worker' : `${workers} workers`;
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function clock(at: number | undefined): string {
  return at === undefined ? 'later' : new Date(at).toISOString().slice(11, 19);
}
