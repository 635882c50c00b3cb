/** A local cluster of stub actors on free ports and in a temporary home, gone with the test. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { bringDown } from '../../src/local/down.ts';
import { allPorts } from '../../src/local/layout.ts';
import { findBusyPorts } from '../../src/local/ports.ts';
import { isAlive, signalProcess, untilGone, type ProcessIdentity } from '../../src/local/process-identity.ts';
import type { Progress } from '../../src/local/progress.ts';
import { readClusterState, recordsOf, type ClusterState } from '../../src/local/state.ts';
import type { UpOptions } from '../../src/local/up.ts';
import { askSupervisor } from '../../src/local/ask-supervisor.ts';
import { projectRoot } from '../../src/project-root.ts';
import { claimPorts } from './claim-ports.ts';
import { natsServerPath, temporaryFolder, type Teardown } from './nats-server.ts';

const HTTP_PORT = 8080;
const kit = join(projectRoot, 'dist', 'test', 'kit');

/** Behaviours of stub actors by id. */
export type Stubs = Readonly<Record<string, string>>;

export const threeWorkers: Stubs = {
  coordinator: 'serve',
  'proxy-manager': 'serve',
  'worker-1': 'serve',
  'worker-2': 'serve',
  'worker-3': 'serve',
  exporter: 'serve',
  autoscaler: 'serve',
};

interface Changes extends Partial<Omit<UpOptions, 'actors'>> {
  readonly actors?: Stubs;
  /** Behaviour of the stub supervisor. */
  readonly supervisor?: string;
}

export interface TestCluster {
  readonly options: UpOptions;
  /** The texts that were reported so far. */
  readonly said: string[];
  readonly report: (progress: Progress) => void;
}

export async function planTestCluster(
  t: Teardown,
  { actors = { 'worker-1': 'serve' }, supervisor = 'connect', ...changes }: Changes = {},
): Promise<TestCluster> {
  const folder = temporaryFolder(t);
  const said: string[] = [];
  const options: UpOptions = {
    home: join(folder, '.trawl'),
    nodes: 1,
    portBase: await claimPorts(t),
    httpPort: HTTP_PORT,
    maxStoreBytes: 1024 ** 3,
    durability: 'interval',
    actors: Object.entries(actors).map(([id, behaviour]) => ({ role: roleOf(id), id, args: [behaviour] })),
    actorCommand: [process.execPath, join(kit, 'stub-actor.js')],
    supervisorCommand: [process.execPath, join(kit, 'stub-supervisor.js'), supervisor],
    restartBackoffMaxMs: 2_000,
    stopGraceMs: 5_000,
    configHome: join(folder, 'config'),
    settings: { 'local.nodes': '1' },
    natsServer: natsServerPath(),
    ...changes,
  };
  t.teardown(() => endCluster(options.home));
  return { options, said, report: ({ text }) => void said.push(text) };
}

/** Asks for the state until it fits: the supervisor sends no events to strangers. */
export async function untilState(
  home: string,
  fits: (state: ClusterState) => boolean,
  limitMs = 10_000,
): Promise<ClusterState> {
  const end = performance.now() + limitMs;
  for (;;) {
    const asked = await askSupervisor(join(home, 'control.sock'), 'status', { limitMs });
    if (asked.kind === 'answered' && fits(asked.state)) return asked.state;
    if (performance.now() > end) throw new Error(`not so within ${limitMs} ms: ${JSON.stringify(asked)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function childOf(state: ClusterState, name: string): ClusterState['children'][number] {
  const child = state.children.find((candidate) => candidate.name === name);
  if (!child) throw new Error(`no child ${name}`);
  return child;
}

export function processOf(state: ClusterState, name: string): ProcessIdentity {
  const { process } = childOf(state, name);
  if (!process) throw new Error(`${name} does not run`);
  return process;
}

/** After a start that failed: no process, no port. */
export async function nothingLeft(t: Test, home: string): Promise<void> {
  const state = readClusterState(join(home, 'cluster.json'));
  if (!state) throw new Error('no state was written');
  t.equal(state.phase, 'stopped');
  t.strictSame(recordsOf(state).filter(isAlive), []);
  t.strictSame(await findBusyPorts(allPorts(state.ports)), []);
}

/** Everyone of the cluster that lives, by name. */
export function aliveIn(state: ClusterState): string[] {
  const everyone = [...recordsOf(state), { name: 'supervisor', ...state.supervisor }];
  return everyone.filter(isAlive).map(({ name }) => name);
}

export async function kill(process: ProcessIdentity): Promise<void> {
  signalProcess(process, 'SIGKILL');
  await untilGone([process], 5_000);
}

async function endCluster(home: string): Promise<void> {
  await bringDown({ home }, () => undefined).catch(() => undefined);
  const state = readClusterState(join(home, 'cluster.json'));
  if (!state) return;
  for (const process of [...recordsOf(state), state.supervisor]) signalProcess(process, 'SIGKILL');
}

function roleOf(id: string): UpOptions['actors'][number]['role'] {
  if (id.startsWith('worker')) return 'worker';
  if (id === 'proxy-manager' || id === 'exporter' || id === 'autoscaler') return id;
  return 'coordinator';
}
