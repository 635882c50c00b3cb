/** How the local cluster does: in its supervisor's words while there is one, from its records otherwise. */
import type { Condition } from '../policy/half-dead.ts';
import { askSupervisor } from './ask-supervisor.ts';
import { isOurs, layoutOf } from './home.ts';
import { inspectHome } from './leftovers.ts';
import type { ClusterState } from './state.ts';

export interface LocalStatus {
  readonly condition: Condition;
  /** Undefined where no cluster was ever started. Unless it is running, the states in it are from before. */
  readonly cluster: ClusterState | undefined;
  /** Names of the processes that live although their supervisor does not answer. */
  readonly leftovers: readonly string[];
}

const ANSWER_MAX_MS = 3_000;

export async function readLocalStatus(home: string): Promise<LocalStatus> {
  const layout = layoutOf(home);
  if (!isOurs(layout)) return { condition: 'absent', cluster: undefined, leftovers: [] };
  const asked = await askSupervisor(layout.socket, 'status', { limitMs: ANSWER_MAX_MS });
  if (asked.kind === 'answered') return { condition: 'running', cluster: asked.state, leftovers: [] };
  const { state, verdict } = inspectHome(layout, { answers: false });
  return { condition: verdict.condition, cluster: state, leftovers: verdict.alive.map(({ name }) => name) };
}
