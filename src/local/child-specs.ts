/** How each process of a local cluster is started. */
import type { ChildSpec } from './child.ts';
import { untilHealthy } from './health.ts';
import { logFile, nodePaths, type ClusterPorts, type Layout } from './layout.ts';
import type { ActorPlan, ClusterPlan } from './plan.ts';

/** An actor may stumble over one that is not there yet. */
const ACTOR_START_EXITS_MAX = 3;

export function planServers(plan: ClusterPlan, layout: Layout, ports: ClusterPorts): ChildSpec[] {
  return ports.monitor.map((monitor, index) => {
    const { name, config } = nodePaths(layout, index + 1);
    return {
      name,
      role: 'nats',
      command: [plan.natsServer, '-c', config],
      logFile: logFile(layout, name),
      untilServing: (signal) => untilHealthy(monitor, 'server', signal),
      startExitsMax: 1,
    };
  });
}

export function planActors(plan: ClusterPlan, layout: Layout): ChildSpec[] {
  return plan.actors.map((actor) => planActor(plan, layout, actor));
}

export function planActor(
  { actorCommand }: ClusterPlan,
  layout: Layout,
  { role, id, args }: ActorPlan,
): ChildSpec {
  return {
    name: id,
    role,
    command: [...actorCommand, ...args],
    logFile: logFile(layout, id),
    startExitsMax: ACTOR_START_EXITS_MAX,
  };
}
