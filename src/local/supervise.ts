/**
 * The supervisor of a local cluster: a background process that `trawl up` launches and that lives as long as the cluster.
 * Whatever it starts, it ends; only its own sudden death leaves something behind, and then the actors notice that their
 * channel broke, and the next `up` or `down` finds the servers.
 */
import { asFailure, Failure } from '../domain/failure.ts';
import { untilAborted } from '../runtime/actor.ts';
import { withDeadline } from '../runtime/with-deadline.ts';
import type { Log } from '../telemetry/log.ts';
import { createCluster, type ClusterDeps } from './cluster.ts';
import { serveControl } from './control.ts';
import { tryLockHome } from './home-lock.ts';
import { openHome } from './home.ts';
import { meetLauncher, type LauncherChannel } from './launcher-channel.ts';
import type { Layout } from './layout.ts';
import { packFailure } from './messages.ts';
import { prepareHome } from './preflight.ts';
import { identify } from './process-identity.ts';
import type { Report } from './progress.ts';

export interface SupervisorOptions {
  readonly prepare: ClusterDeps['prepare'];
  readonly log: Log;
}

/** Runs until the cluster has stopped. The answer is the exit code: 1 when the cluster did not come up. */
export async function runSupervisor(options: SupervisorOptions): Promise<number> {
  const launcher = await meetLauncher();
  try {
    const layout = openHome(launcher.plan.home);
    const lock = tryLockHome(layout.home, 'supervisor');
    if (!lock.held) {
      await launcher.send({ type: 'busy', pid: lock.holder.pid, role: lock.holder.role });
      return 0;
    }
    try {
      await runCluster(layout, launcher, options);
      return 0;
    } finally {
      lock.release();
    }
  } catch (error) {
    options.log.error('cluster.failed', { reason: error });
    await launcher.send({ type: 'failed', failure: packFailure(asFailure(error)) });
    return 1;
  } finally {
    launcher.close();
  }
}

/** Ends when the cluster has stopped; throws, with everything stopped, when it did not come up. */
async function runCluster(
  layout: Layout,
  launcher: LauncherChannel,
  options: SupervisorOptions,
): Promise<void> {
  const { prepare, log } = options;
  const { plan } = launcher;
  const self = identify(process.pid);
  if (!self) throw new Failure('INTERNAL', 'this process cannot see itself in the list of processes');
  const cluster = createCluster(plan, layout, { self, prepare, log });
  const { report, listen } = createBroadcast((progress) => {
    log.info('cluster.progress', { ...progress });
    void launcher.send({ type: 'progress', progress });
  });

  const stop = new AbortController();
  const askStop = (): void =>
    stop.abort(new Failure('CANCELLED', 'the cluster was stopped while it started'));
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const started = begun.then(() =>
    withDeadline(stop.signal, plan.startMaxMs, async (signal) => {
      await prepareHome(plan, layout, report);
      await cluster.start(report, signal);
    }),
  );
  const stopped = started.then(
    () => untilAborted(stop.signal).then(() => cluster.stop(report)),
    () => cluster.stop(report),
  );

  const control = await serveControl(layout, {
    status: cluster.state,
    ready: (heard) => listen(heard, started).then(cluster.state),
    stop(heard) {
      askStop();
      return listen(heard, stopped).then(cluster.state);
    },
    addWorkers: (count) => cluster.addWorkers(count).then(cluster.state),
    letGo(name) {
      cluster.letGo(name);
      return cluster.state();
    },
  });
  const unhook = hookSignals(askStop);
  void untilAborted(launcher.gone).then(askStop);
  begin();
  try {
    await started;
    await launcher.send({ type: 'up', state: cluster.state() });
    launcher.close();
  } finally {
    await stopped;
    await control.close();
    unhook();
  }
}

/** `listen` tells the listener what is reported until the promise settles. */
function createBroadcast(first: Report): {
  report: Report;
  listen: (listener: Report, until: Promise<void>) => Promise<void>;
} {
  const listeners = new Set([first]);
  return {
    report(progress) {
      for (const listener of listeners) listener(progress);
    },
    listen(listener, until) {
      listeners.add(listener);
      return until.finally(() => listeners.delete(listener));
    },
  };
}

/** Told to end, it ends its cluster first. A closed terminal is no reason to: it runs in the background. */
function hookSignals(askStop: () => void): () => void {
  const ignore = (): void => undefined;
  process.on('SIGTERM', askStop).on('SIGINT', askStop).on('SIGHUP', ignore);
  return () => void process.off('SIGTERM', askStop).off('SIGINT', askStop).off('SIGHUP', ignore);
}
