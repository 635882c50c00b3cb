/** `trawl autoscale`: how the number of workers is decided. */
import { Failure } from '../../domain/failure.ts';
import { SCALE_POLICIES } from '../../domain/scale.ts';
import { readScaleEvents } from '../../nats/scale-history.ts';
import { recordedWorkerSeconds, replay } from '../../policy/autoscale/replay.ts';
import type { ScaleLimits } from '../../policy/autoscale/limits.ts';
import { createNames } from '../../wire/names.ts';
import { readAge, readWhole, type Arguments } from '../arguments.ts';
import { describeExplain, describeHistory, describeReplay, describeStatus } from '../autoscale-view.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readDecisions, type Decided } from '../scale-events.ts';
import { parseLeaderStatus, type LeaderStatus } from '../scale-status.ts';
import { withAutoscaler, withConnection } from '../with-connection.ts';

const HOUR_MS = 3_600_000;
const WORKERS_MAX = 10_000;
/** From its order to its first task, as the simulation takes it. */
const START_SECONDS = 5;

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const now = Date.now();
  switch (String(argv['action'])) {
    case 'status': {
      const status = await askLeader(context);
      output.result(status, describeStatus(status, now));
      return EXIT.ok;
    }
    case 'explain': {
      const status = await askLeader(context);
      const changes = (await readHistory(context, now - HOUR_MS)).filter(isChange).slice(-5);
      output.result({ ...status, changes }, describeExplain(status, changes, now));
      return EXIT.ok;
    }
    case 'history': {
      const found = await readHistory(context, now - (readAge(argv, 'since') ?? HOUR_MS));
      const shown = argv['all'] === true ? found : found.filter(isChange);
      output.result(shown, describeHistory(shown, found.length));
      return EXIT.ok;
    }
    default:
      return tryOther(context, now);
  }
}

async function tryOther(context: CommandContext, now: number): Promise<ExitCode> {
  const { argv, output } = context;
  const changes = readChanges(argv);
  const status = await askLeader(context);
  const decisions = await readHistory(context, now - (readAge(argv, 'since') ?? HOUR_MS));
  const records = decisions.flatMap(({ decision: { inputs } }) =>
    inputs.load ? [{ load: inputs.load, guard: inputs.guard }] : [],
  );
  const limits = { ...status.limits, ...changes };
  if (limits.min > limits.max)
    throw new Failure('INVALID', `at least ${limits.min} and at most ${limits.max} workers cannot be`);
  const options = {
    intervalSeconds: Math.max(1, Math.round(status.intervalMs / 1_000)),
    startSeconds: START_SECONDS,
  };
  const other = replay(records, { ...options, limits });
  const same = replay(records, { ...options, limits: status.limits });
  if (!other || !same)
    throw new Failure('REJECTED', 'too little is recorded to try a policy on', {
      hint: 'An autoscaler records a measurement each interval; `trawl autoscale history --all` shows them.',
    });
  const recorded = { looks: records.length, workerSeconds: Math.round(recordedWorkerSeconds(records)) };
  output.result(
    { limits, recorded, same, other },
    describeReplay({ limits, recorded, same, other, now: status.limits }),
  );
  return EXIT.ok;
}

function readChanges(argv: Arguments): Partial<ScaleLimits> {
  const policy = SCALE_POLICIES.find((name) => name === argv['policy']);
  const max = readWhole(argv, 'max', { min: 1, max: WORKERS_MAX });
  const min = readWhole(argv, 'min', { min: 0, max: WORKERS_MAX });
  const drainTargetMs = readAge(argv, 'drain-target');
  return {
    ...(policy !== undefined && { policy }),
    ...(max !== undefined && { max }),
    ...(min !== undefined && { min }),
    ...(drainTargetMs !== undefined && { drainTargetMs }),
  };
}

function askLeader(context: CommandContext): Promise<LeaderStatus> {
  return withAutoscaler(context, 'autoscale', async (services) =>
    parseLeaderStatus(await services.call('scale.status', {})),
  );
}

async function readHistory(context: CommandContext, since: number): Promise<Decided[]> {
  const names = createNames(context.config.namespace);
  const events = await withConnection(context, 'autoscale', (connection) =>
    readScaleEvents(connection, names, { since }),
  );
  return readDecisions(events);
}

function isChange({ decision: { from, to } }: Decided): boolean {
  return from !== to;
}
