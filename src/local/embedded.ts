/**
 * A nats-server for one process and for as long as it lives: on loopback, on ports that happen to be free, with
 * passwords of its own, its data in a folder. The folder is the home of a local cluster of one server, whose supervisor
 * is this process: what is left of one that was killed is found and ended in the same way.
 */
import { mkdirSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { withDeadline } from '../runtime/with-deadline.ts';
import { createLog, type Level, type Log } from '../telemetry/log.ts';
import { readLocalAccess, type LocalAccess } from './access.ts';
import { createCluster, type Cluster, type ClusterDeps } from './cluster.ts';
import { findNatsServer } from './find-nats-server.ts';
import { tryLockHome, type LockHolder } from './home-lock.ts';
import { openHome } from './home.ts';
import { logFile, planPorts, type Layout } from './layout.ts';
import { openLog } from './log-file.ts';
import type { ClusterPlan } from './plan.ts';
import { prepareHome } from './preflight.ts';
import { identify, signalProcess } from './process-identity.ts';
import type { Report } from './progress.ts';
import { recordsOf } from './state.ts';

export interface EmbeddedOptions {
  readonly folder: string;
  readonly durability: ClusterPlan['durability'];
  readonly maxStoreBytes: number;
  readonly restartBackoffMaxMs: number;
  readonly logLevel: Level;
  /** Runs when the server serves, before anybody uses it. */
  readonly prepare: ClusterDeps['prepare'];
  readonly report: Report;
  readonly stop: AbortSignal;
}

export interface Embedded {
  readonly folder: string;
  readonly access: LocalAccess;
  /** Into a file of the folder: the terminal is for the bar. */
  readonly log: Log;
  stop(): Promise<void>;
}

const START_MAX_MS = 30_000;
const START_TRIES = 3;
/** Below the ports that systems give to outgoing connections; the monitoring port lies 4000 above. */
const PORT_FIRST = 12_000;
const PORT_COUNT = 14_000;
const PORT_TRIES = 100;

/** When it throws, nothing of what it started runs any more. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const natsServer = await findNatsServer(options.report);
  const layout = openHome(options.folder);
  const lock = tryLockHome(layout.home, 'single');
  if (!lock.held) throw explainBusy(layout, lock.holder);
  try {
    mkdirSync(layout.logs, { recursive: true, mode: 0o700 });
    const log = createFolderLog(layout, options.logLevel);
    const cluster = await start({ ...options, natsServer, layout, log });
    const access = readLocalAccess(layout.home);
    if (!access) throw new Failure('INTERNAL', `the server in ${layout.home} has left no record`);
    const forget = endWithThisProcess(cluster);
    return {
      folder: layout.home,
      access,
      log,
      async stop() {
        await cluster.stop(options.report);
        forget();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Also when it leaves in a hurry: at the second Ctrl-C, or because nobody reads its output any more. */
function endWithThisProcess(cluster: Cluster): () => void {
  const end = (): void => {
    for (const server of recordsOf(cluster.state())) signalProcess(server, 'SIGTERM');
  };
  process.once('exit', end);
  return () => void process.off('exit', end);
}

interface Start extends EmbeddedOptions {
  readonly natsServer: string;
  readonly layout: Layout;
  readonly log: Log;
}

async function start(options: Start): Promise<Cluster> {
  const { layout, log, prepare, report, stop } = options;
  const self = identify(process.pid);
  if (!self) throw new Failure('INTERNAL', 'this process cannot see itself in the list of processes');
  for (let attempt = 1; ; attempt += 1) {
    const plan = planOf(options, await findPortBase());
    const cluster = createCluster(plan, layout, { self, prepare, log });
    try {
      await withDeadline(stop, START_MAX_MS, async (signal) => {
        await prepareHome(plan, layout, report);
        await cluster.start(report, signal);
      });
      return cluster;
    } catch (error) {
      await cluster.stop(report);
      // Somebody else may have taken the port in between; what else is wrong is wrong again.
      if (attempt === START_TRIES || stop.aborted) throw error;
      log.warn('embedded.retried', { reason: error });
    }
  }
}

function planOf(options: Start, portBase: number): ClusterPlan {
  const { layout, natsServer, maxStoreBytes, durability, restartBackoffMaxMs } = options;
  return {
    home: layout.home,
    natsServer,
    nodes: 1,
    portBase,
    httpPort: 0,
    maxStoreBytes,
    durability,
    actors: [],
    actorCommand: [],
    restartBackoffMaxMs,
    stopGraceMs: 0,
    startMaxMs: START_MAX_MS,
    settings: {},
  };
}

function createFolderLog(layout: Layout, level: Level): Log {
  // The name that is looked after when it grows.
  const descriptor = openLog(logFile(layout, 'supervisor'));
  return createLog({ level, format: 'json', write: (line) => void writeSync(descriptor, `${line}\n`) });
}

async function findPortBase(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries += 1) {
    const portBase = PORT_FIRST + Math.floor(Math.random() * PORT_COUNT);
    const { client, monitor } = planPorts({ portBase, nodes: 1, httpPort: 0 });
    if ((await Promise.all([...client, ...monitor].map(isFree))).every(Boolean)) return portBase;
  }
  throw new Failure('UNAVAILABLE', 'no free ports were found on this machine');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function explainBusy(layout: Layout, { pid }: LockHolder): Failure {
  return new Failure('CONFLICT', `another process works in ${layout.home}: pid ${pid}`, {
    hint: 'Wait until it has ended, or give another folder with --data.',
  });
}
