/** `cluster.json`: what a local cluster is made of and how each process does, for those who cannot ask its supervisor. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as v from 'valibot';
import { ROLES } from '../domain/role.ts';
import type { ProcessRecord } from '../policy/half-dead.ts';

const identity = v.object({ pid: v.number(), mark: v.string() });

const numbers = v.pipe(v.array(v.number()), v.readonly());

const childState = v.object({
  name: v.string(),
  role: v.picklist([...ROLES, 'nats']),
  /** Null while it does not run. */
  process: v.nullable(identity),
  state: v.picklist(['starting', 'up', 'restarting', 'failed', 'stopping', 'stopped']),
  startedAt: v.nullable(v.string()),
  restarts: v.number(),
  lastExit: v.nullable(
    v.object({
      at: v.string(),
      code: v.nullable(v.number()),
      signal: v.nullable(v.string()),
      /** The last lines of that run, when it ended badly. */
      words: v.string(),
    }),
  ),
  log: v.string(),
});

export const clusterState = v.object({
  version: v.literal(1),
  home: v.string(),
  cluster: v.string(),
  phase: v.picklist(['starting', 'up', 'stopping', 'stopped']),
  supervisor: identity,
  startedAt: v.string(),
  nodes: v.number(),
  ports: v.object({
    client: numbers,
    routes: numbers,
    monitor: numbers,
    http: v.number(),
  }),
  urls: v.pipe(v.array(v.string()), v.readonly()),
  /** Names of the contexts of the nats CLI; null when they could not be written. */
  contexts: v.nullable(v.object({ app: v.string(), sys: v.string() })),
  /** What the cluster was asked to be, in its caller's words; a later `up` is compared with it. */
  settings: v.pipe(v.record(v.string(), v.string()), v.readonly()),
  /** What an actor gives itself to finish its work when it is told to stop. */
  stopGraceMs: v.number(),
  children: v.pipe(v.array(childState), v.readonly()),
});

export type ClusterState = Readonly<v.InferOutput<typeof clusterState>>;
export type ChildState = Readonly<v.InferOutput<typeof childState>>;
export type ChildRole = ChildState['role'];

/** Undefined when it is not a state of this version. */
export function parseClusterState(input: unknown): ClusterState | undefined {
  const parsed = v.safeParse(clusterState, input);
  return parsed.success ? parsed.output : undefined;
}

/** Undefined without a file, or with one that does not read. */
export function readClusterState(file: string): ClusterState | undefined {
  try {
    return parseClusterState(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Whoever reads sees the old text or the new one. Only the holder of the home's lock writes. */
export function writeClusterState(file: string, state: ClusterState): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function recordsOf(state: ClusterState | undefined): ProcessRecord[] {
  return (state?.children ?? []).flatMap(({ name, role, process }) =>
    process ? [{ name, role, ...process }] : [],
  );
}
