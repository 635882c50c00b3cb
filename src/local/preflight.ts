/** What must be so before a local cluster starts, seen by the one process that holds the home's lock. */
import { Failure } from '../domain/failure.ts';
import { planPorts, type Layout } from './layout.ts';
import { inspectHome, stopLeftovers, storedNodes } from './leftovers.ts';
import type { ClusterPlan } from './plan.ts';
import { refuseBusyPorts } from './ports.ts';
import type { Report } from './progress.ts';

/** Orphans were told to end when their supervisor died; they have had their time to drain. */
const LEFTOVER_GRACE_MS = 2_000;

export async function prepareHome(plan: ClusterPlan, layout: Layout, report: Report): Promise<void> {
  await clearLeftovers(layout, report);
  refuseOtherNodes(plan, layout);
  await refuseBusyPorts(planPorts(plan));
}

async function clearLeftovers(layout: Layout, report: Report): Promise<void> {
  const { state, verdict } = inspectHome(layout, { answers: false });
  for (const { name, pid } of verdict.reused) {
    report({
      step: 'cleaning',
      text: `pid ${pid}, once ${name}, belongs to another program now and is left alone`,
    });
  }
  if (verdict.condition === 'silent') {
    throw new Failure(
      'CONFLICT',
      `the supervisor of ${layout.home} still runs (pid ${state?.supervisor.pid ?? 0})`,
      {
        hint: 'Stop it with `trawl down`.',
      },
    );
  }
  if (verdict.condition === 'stale')
    report({ step: 'cleaning', text: 'the last cluster ended without `down`' });
  if (verdict.condition === 'half-dead') {
    report({ step: 'cleaning', text: 'the last supervisor died and left processes behind' });
    await stopLeftovers(verdict.alive, { graceMs: LEFTOVER_GRACE_MS, report });
  }
}

/** A server that joins a cluster drops the streams the cluster does not know: data of one server would be deleted. */
function refuseOtherNodes({ nodes }: ClusterPlan, layout: Layout): void {
  const stored = storedNodes(layout);
  if (stored === undefined || stored === nodes) return;
  throw new Failure(
    'CONFLICT',
    `the data in ${layout.data} was written by ${stored} server(s), not ${nodes}`,
    {
      hint: `Start with --nodes ${stored}, use another --home, or remove the data with \`make cluster-clean\`.`,
    },
  );
}
