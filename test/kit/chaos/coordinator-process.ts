/** A coordinator in a process of its own, configured by the environment; what dies with it comes again after a lease. */
import { COORDINATOR_DEFAULTS, createCoordinatorActor } from '../../../src/cluster/coordinator-parts.ts';
import { createStop } from '../../../src/runtime/actor.ts';
import { openProcess } from './process-parts.ts';

const { leaseMs, ...parts } = await openProcess('coordinator');
const { idleEnd } = parts.config.runs;
const coordinator = createCoordinatorActor(parts, {
  limits: { ...COORDINATOR_DEFAULTS, runEnd: { idleEndMs: idleEnd } },
  intakeAckWaitMs: leaseMs,
});
await coordinator.run(createStop(parts.config.actor.grace).stop);
