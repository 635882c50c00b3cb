/** `trawl status`: every actor of the cluster with state, pid, uptime, work in flight and last beat. */
import { listBeats } from '../../nats/beats.ts';
import { openBucket } from '../../nats/bucket.ts';
import { asFailure, type Failure } from '../../domain/failure.ts';
import type { Beat } from '../../domain/beat.ts';
import { readLocalStatus, type LocalStatus } from '../../local/status.ts';
import { planActorRows, type ActorRow, type LocalProcess } from '../../policy/actor-rows.ts';
import { createNames } from '../../wire/names.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, exitCodeOf, type ExitCode } from '../exit.ts';
import { renderAge, renderTable } from '../table.ts';
import { withConnection } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { config, output } = context;
  const local = await readLocalStatus(config.home);
  const heard = await hearBeats(context);
  const now = Date.now();
  const limits = { intervalMs: config.heartbeat.interval, deadAfterMs: config.heartbeat.deadAfter };
  const actors = planActorRows({ processes: processesOf(local), beats: heard.beats, now, limits });
  if (heard.failure && local.condition !== 'running') throw explainDown(local, heard.failure);
  output.result(
    { local: local.condition, home: local.cluster?.home, problem: heard.failure?.message, actors },
    [renderActors(actors, now), ...remarks(local, heard.failure)].join('\n'),
  );
  return heard.failure ? exitCodeOf(heard.failure.code) : EXIT.ok;
}

async function hearBeats(context: CommandContext): Promise<{ beats: Beat[]; failure?: Failure }> {
  const { config, log } = context;
  try {
    const beats = await withConnection(context, 'status', (connection) =>
      listBeats(openBucket(connection, createNames(config.namespace).bucket('cluster')), log),
    );
    return { beats };
  } catch (error) {
    return { beats: [], failure: asFailure(error) };
  }
}

function processesOf({ condition, cluster }: LocalStatus): LocalProcess[] {
  if (condition !== 'running' || !cluster) return [];
  return cluster.children.map(({ name, role, process, state, restarts, startedAt }) => ({
    name,
    role,
    pid: process?.pid,
    state,
    restarts,
    startedAt: startedAt === null ? undefined : Date.parse(startedAt),
  }));
}

function renderActors(actors: readonly ActorRow[], now: number): string {
  const age = (since: number | undefined): string => (since === undefined ? '-' : renderAge(now - since));
  const anyLimited = actors.some(({ limitedBy = [] }) => limitedBy.length > 0);
  return renderTable(
    [
      ...['ACTOR', 'ROLE', 'STATE', 'PID', 'UPTIME', 'IN FLIGHT'],
      ...(anyLimited ? ['LIMITED BY'] : []),
      ...['LAST BEAT', 'RESTARTS', 'PAGE'],
    ],
    actors.map((row) => [
      row.id,
      row.role,
      row.state,
      String(row.pid ?? '-'),
      row.state === 'stopped' ? '-' : age(row.startedAt),
      renderSlots(row),
      ...(anyLimited ? [row.limitedBy?.join(', ') || '-'] : []),
      row.beatAt === undefined ? '-' : `${age(row.beatAt)} ago`,
      String(row.restarts ?? '-'),
      row.page ?? '-',
    ]),
  );
}

/** What is in hand, of what it allows itself; what is merely being stored holds no slot, so it may be more. */
function renderSlots({ inFlight, slotsNow }: ActorRow): string {
  if (inFlight === undefined) return '-';
  return slotsNow === undefined ? String(inFlight) : `${inFlight}/${slotsNow}`;
}

function remarks(local: LocalStatus, failure: Failure | undefined): string[] {
  const lines: string[] = [];
  if (failure) lines.push('', `Heartbeats cannot be read: ${failure.message}`);
  if (local.leftovers.length > 0) {
    lines.push(
      '',
      `The supervisor is gone, these still run: ${local.leftovers.join(', ')}. \`trawl down\` stops them.`,
    );
  }
  for (const { name, state, lastExit, log } of local.cluster?.children ?? []) {
    if (state === 'failed') lines.push('', `${name} gave up: ${lastExit?.words ?? ''} (log: ${log})`);
  }
  return lines;
}

function explainDown({ condition, leftovers }: LocalStatus, failure: Failure): Failure {
  if (leftovers.length === 0 && condition === 'absent') return failure;
  return Object.assign(failure, {
    message:
      leftovers.length > 0
        ? `the local cluster is half dead: its supervisor is gone, and ${leftovers.join(', ')} still run`
        : `the local cluster is not running (${failure.message})`,
    hint:
      leftovers.length > 0
        ? '`trawl down` stops the rest; `trawl up` starts afresh.'
        : 'Start it with `trawl up`.',
  });
}
