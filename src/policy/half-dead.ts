/**
 * What is left of a local cluster, judged from its records and from what the machine shows. A process is ours only if
 * both its pid and its start mark agree with the record: pids are used again, and a stranger must never get our signals.
 */
export interface ProcessRecord {
  readonly name: string;
  readonly role: string;
  readonly pid: number;
  /** When that process started, as the machine tells it; no two processes share pid and mark. */
  readonly mark: string;
}

export interface ClusterFacts {
  /** The supervisor answered on its control socket. */
  readonly answers: boolean;
  /** What the state file says; undefined without one. */
  readonly recordedPhase: 'starting' | 'up' | 'stopping' | 'stopped' | undefined;
  readonly supervisor: ProcessRecord | undefined;
  readonly children: readonly ProcessRecord[];
  /** Start marks of the pids that live now. */
  readonly marks: ReadonlyMap<number, string>;
}

export type Condition =
  | 'absent' // nothing was ever started here
  | 'running' // the supervisor answers
  | 'silent' // the supervisor lives, and does not answer
  | 'half-dead' // no supervisor, yet some of its children live
  | 'stale' // said to run, and nothing of it lives: a crash or a reboot
  | 'stopped';

export interface Verdict {
  readonly condition: Condition;
  /** Children that live and are ours. */
  readonly alive: readonly ProcessRecord[];
  /** Records whose pid belongs to a stranger now. */
  readonly reused: readonly ProcessRecord[];
}

export function judgeCluster(facts: ClusterFacts): Verdict {
  const isOurs = ({ pid, mark }: ProcessRecord): boolean => facts.marks.get(pid) === mark;
  const isReused = (record: ProcessRecord): boolean => facts.marks.has(record.pid) && !isOurs(record);
  const everyone = facts.supervisor ? [facts.supervisor, ...facts.children] : facts.children;
  const alive = facts.children.filter(isOurs);
  return { condition: condition(), alive, reused: everyone.filter(isReused) };

  function condition(): Condition {
    if (facts.answers) return 'running';
    if (facts.supervisor && isOurs(facts.supervisor)) return 'silent';
    if (alive.length > 0) return 'half-dead';
    if (facts.recordedPhase === undefined) return 'absent';
    return facts.recordedPhase === 'stopped' ? 'stopped' : 'stale';
  }
}
