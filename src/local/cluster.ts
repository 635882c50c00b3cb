/** The processes of one local cluster, started and stopped in order, and the state file that tells of them. */
import { rmSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';
import { planStopOrder } from '../policy/stop-order.ts';
import type { Log } from '../telemetry/log.ts';
import type { LocalAccess } from './access.ts';
import { planActors, planServers } from './child-specs.ts';
import { createChild, explainLate, type Child } from './child.ts';
import { writeClusterFiles } from './cluster-files.ts';
import type { ContextNames } from './context-file.ts';
import { createFurtherWorkers } from './further-workers.ts';
import { untilHealthy } from './health.ts';
import { readClusterName } from './home.ts';
import { clientUrl, logFile, nodePaths, passwordFile, planPorts, type Layout } from './layout.ts';
import { actorStopMs, NATS_STOP_MAX_MS } from './leftovers.ts';
import { rotateLog } from './log-file.ts';
import { APP_USER } from './nats-conf.ts';
import type { ClusterPlan } from './plan.ts';
import type { ProcessIdentity } from './process-identity.ts';
import type { Report } from './progress.ts';
import { writeClusterState, type ClusterState } from './state.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface ClusterDeps {
  readonly self: ProcessIdentity;
  /** Applies streams, consumers and buckets; runs when the servers serve, before any actor starts. */
  readonly prepare: (access: LocalAccess) => Promise<void>;
  readonly log: Log;
}

export interface Cluster {
  readonly state: () => ClusterState;
  /** Resolves when every process serves; what was started before a failure runs on until `stop`. */
  start(report: Report, signal: AbortSignal): Promise<void>;
  stop(report: Report): Promise<void>;
  /** Starts so many further workers; resolves when they serve. */
  addWorkers(count: number): Promise<void>;
  /** This worker ends by itself, and is not started again. */
  letGo(name: string): void;
}

const LOG_MAX_BYTES = 10 * 1024 * 1024;
const LOG_CHECK_MS = 5_000;
const RESTART = { baseMs: 200, stableMs: 60_000 } as const;
/** Actors other than workers have little to finish. */
const QUICK_STOP_MAX_MS = 10_000;

/** How long a stop takes at most: the workers, everyone else one after the other, and some air. */
export function stopMaxMs(stopGraceMs: number): number {
  return actorStopMs(stopGraceMs) + 4 * QUICK_STOP_MAX_MS + NATS_STOP_MAX_MS + 10_000;
}

export function createCluster(
  plan: ClusterPlan,
  layout: Layout,
  { self, prepare, log }: ClusterDeps,
): Cluster {
  const cluster = readClusterName(layout);
  const ports = planPorts(plan);
  const urls = ports.client.map(clientUrl);
  const startedAt = new Date().toISOString();
  let phase: ClusterState['phase'] = 'starting';
  let recorded = false;
  let contexts: ContextNames | undefined;
  let rotating: NodeJS.Timeout | undefined;

  const deps = { limits: { ...RESTART, maxMs: plan.restartBackoffMaxMs }, log, onChange: save };
  const servers = planServers(plan, layout, ports).map((spec) => createChild(spec, deps));
  const actors = planActors(plan, layout).map((spec) => createChild(spec, deps));
  const everyone = (): Child[] => [...servers, ...actors];
  const further = createFurtherWorkers({ plan, layout, actors, deps, isUp: () => phase === 'up', save });
  return { state, start, stop, ...further };

  function state(): ClusterState {
    return {
      version: 1,
      home: layout.home,
      cluster,
      phase,
      supervisor: self,
      startedAt,
      nodes: plan.nodes,
      ports,
      urls,
      contexts: contexts ?? null,
      settings: plan.settings,
      stopGraceMs: plan.stopGraceMs,
      children: everyone().map((child) => child.view()),
    };
  }

  /** Before the start is under way, what the file says of the last cluster stands. A full disk must not end the supervisor: the processes matter more than the page about them. */
  function save(): void {
    if (!recorded) return;
    try {
      writeClusterState(layout.state, state());
    } catch (error) {
      log.error('state.unwritten', { reason: error });
    }
  }

  async function start(report: Report, signal: AbortSignal): Promise<void> {
    contexts = writeClusterFiles({ plan, layout, cluster, ports, urls }, log);
    recorded = true;
    save();
    rotating = setInterval(rotateLogs, LOG_CHECK_MS);

    report({ step: 'starting', text: `starting ${namesOf(servers)} at ${urls.join(', ')}` });
    await startAll(servers, signal);
    // Until the servers have a leader, nothing can be created on them.
    if (plan.nodes > 1) await inTime('the servers did not agree on a leader', agree(signal), signal);
    report({ step: 'starting', text: 'applying streams and buckets' });
    const access = { url: urls, user: APP_USER, passwordFile: passwordFile(layout, 'app') };
    await inTime('streams and buckets were not applied', prepare(access), signal);
    report({ step: 'starting', text: `starting ${namesOf(actors)}` });
    await startAll(actors, signal);
    phase = 'up';
    save();
    report({ step: 'ready', text: `${cluster} is up` });
  }

  async function startAll(children: readonly Child[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const child of children) child.start();
    try {
      await unlessAborted(Promise.all(children.map((child) => child.firstUp)), signal);
    } catch (error) {
      const late = children.map((child) => child.view()).find((view) => view.state !== 'up');
      throw isLate(error) && late ? explainLate(late) : error;
    }
  }

  async function agree(signal: AbortSignal): Promise<void> {
    await Promise.all(ports.monitor.map((port) => untilHealthy(port, 'meta', signal)));
  }

  async function inTime(otherwise: string, promise: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await unlessAborted(promise, signal);
    } catch (error) {
      if (!isLate(error)) throw error;
      throw new Failure('TIMEOUT', `${otherwise} in time`, {
        cause: error,
        hint: `The logs are in ${layout.logs}`,
      });
    }
  }

  async function stop(report: Report): Promise<void> {
    phase = 'stopping';
    save();
    for (const group of planStopOrder(everyone().map((child) => ({ role: child.view().role, child })))) {
      const running = group.map(({ child }) => child).filter((child) => child.view().process !== null);
      if (running.length > 0) report({ step: 'stopping', text: `stopping ${namesOf(running)}` });
      await Promise.all(group.map(({ role, child }) => stopChild(child, graceOf(role), report)));
    }
    clearInterval(rotating);
    for (const [index] of servers.entries()) rmSync(nodePaths(layout, index + 1).pidFile, { force: true });
    phase = 'stopped';
    save();
  }

  function graceOf(role: string): number {
    if (role === 'nats') return NATS_STOP_MAX_MS;
    const actorMs = actorStopMs(plan.stopGraceMs);
    return role === 'worker' ? actorMs : Math.min(actorMs, QUICK_STOP_MAX_MS);
  }

  function rotateLogs(): void {
    for (const file of [logFile(layout, 'supervisor'), ...everyone().map((child) => child.view().log)]) {
      try {
        rotateLog(file, LOG_MAX_BYTES);
      } catch (error) {
        log.warn('log.unrotated', { file, reason: error });
      }
    }
  }
}

async function stopChild(child: Child, graceMs: number, report: Report): Promise<void> {
  const how = await child.stop(graceMs);
  if (how === 'killed')
    report({ step: 'stopping', text: `${child.view().name} did not end in time and was killed` });
}

function isLate(error: unknown): boolean {
  return error instanceof Failure && error.code === 'TIMEOUT';
}

function namesOf(children: readonly Child[]): string {
  return children.map((child) => child.view().name).join(', ');
}
