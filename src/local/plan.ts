/** What `up` hands to the supervisor: everything it needs to run the cluster, as plain data. */
import * as v from 'valibot';
import { ROLES } from '../domain/role.ts';

const texts = v.pipe(v.array(v.string()), v.readonly());

const actorPlan = v.object({
  role: v.picklist(ROLES),
  id: v.string(),
  /** Follow the actor command. */
  args: texts,
});

export const clusterPlan = v.object({
  home: v.string(),
  natsServer: v.string(),
  nodes: v.number(),
  portBase: v.number(),
  httpPort: v.number(),
  maxStoreBytes: v.number(),
  durability: v.picklist(['always', 'interval']),
  actors: v.pipe(v.array(actorPlan), v.readonly()),
  /** How a further worker is started; `{id}` stands for its name. Absent: the number of workers does not change. */
  furtherWorker: v.exactOptional(v.object({ args: texts })),
  /** Program and first arguments of every actor. */
  actorCommand: texts,
  restartBackoffMaxMs: v.number(),
  /** What an actor gives itself to finish its work; the supervisor waits a little longer. */
  stopGraceMs: v.number(),
  startMaxMs: v.number(),
  /** Where programs keep their settings: the contexts of the nats CLI go there. Absent: none are written. */
  configHome: v.exactOptional(v.string()),
  /** What the cluster is asked to be, in the caller's words; a later `up` is compared with it. */
  settings: v.pipe(v.record(v.string(), v.string()), v.readonly()),
});

export type ClusterPlan = Readonly<v.InferOutput<typeof clusterPlan>>;
export type ActorPlan = Readonly<v.InferOutput<typeof actorPlan>>;
