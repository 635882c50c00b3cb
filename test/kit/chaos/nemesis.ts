/** The faults: which ones and when is planned from the seed, then they are done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { TestServer } from '../nats-server.ts';
import type { Fleet, Member } from './fleet.ts';
import type { FaultKind, History } from './history.ts';

export interface PlannedFault {
  readonly atMs: number; // from the beginning
  readonly kind: FaultKind;
  /** Which of those that it can hit. */
  readonly who: number;
  /** How long somebody is paused, or the server is away. */
  readonly forMs: number;
}

export interface NemesisLimits {
  readonly seconds: number;
  readonly leaseMs: number;
  readonly kinds: readonly FaultKind[];
}

const GAP_MS = { from: 400, to: 1_500 };
const AWAY_MS = { from: 100, to: 1_000 };
/** A pause is longer than a lease, and sometimes longer than the silence after which an actor counts as dead. */
const PAUSE_LEASES = { from: 1.2, to: 2.2 };

/** Each kind comes once before any comes again. */
export function planFaults(random: Random, { seconds, leaseMs, kinds }: NemesisLimits): PlannedFault[] {
  const plan: PlannedFault[] = [];
  let bag: FaultKind[] = [];
  for (let atMs = random.int(GAP_MS.from, GAP_MS.to); atMs < seconds * 1_000;) {
    if (bag.length === 0) bag = [...kinds];
    const [kind] = bag.splice(random.int(0, bag.length - 1), 1);
    if (!kind) break;
    const pauseMs = Math.round(
      leaseMs * (PAUSE_LEASES.from + random.next() * (PAUSE_LEASES.to - PAUSE_LEASES.from)),
    );
    const awayMs = random.int(AWAY_MS.from, AWAY_MS.to);
    const forMs = kind.startsWith('pause') ? pauseMs : kind === 'killServer' ? awayMs : 0;
    plan.push({ atMs, kind, who: random.int(0, 999), forMs });
    atMs += random.int(GAP_MS.from, GAP_MS.to);
  }
  return plan;
}

export function describePlan(plan: readonly PlannedFault[]): string {
  return plan
    .map(({ atMs, kind, who, forMs }) => `${atMs} ${kind}${forMs > 0 ? ` for ${forMs}` : ''} (${who})`)
    .join(', ');
}

/** Resolves when the last fault is over. */
export async function doFaults(
  plan: readonly PlannedFault[],
  { fleet, server, history }: { fleet: Fleet; server: TestServer; history: History },
): Promise<void> {
  const startedAt = performance.now();
  const paused = new Set<Member>();
  const pauses: Promise<void>[] = [];
  for (const fault of plan) {
    await delay(Math.max(0, startedAt + fault.atMs - performance.now()));
    if (fault.kind === 'killServer') await killServer(fault);
    else hit(fault);
  }
  await Promise.all(pauses);

  async function killServer({ kind, forMs }: PlannedFault): Promise<void> {
    const at = Date.now();
    const pid = server.pid();
    await server.kill('SIGKILL');
    await delay(forMs);
    await server.start();
    history.add({ type: 'fault', kind, at, pid, until: Date.now() });
  }

  function hit({ kind, who, forMs }: PlannedFault): void {
    const role = kind.endsWith('Worker') ? 'worker' : 'coordinator';
    const able = fleet.members.filter((member) => member.role === role && !paused.has(member));
    const member = able[who % Math.max(1, able.length)];
    const pause = kind.startsWith('pause');
    const at = Date.now();
    const pid = member?.signal(pause ? 'SIGSTOP' : 'SIGKILL');
    if (!member || pid === undefined) return;
    if (!pause) {
      history.add({ type: 'fault', kind, at, pid, until: at });
      return;
    }
    history.add({ type: 'fault', kind, at, pid, until: at + forMs });
    paused.add(member);
    pauses.push(
      delay(forMs).then(() => {
        // Whoever ended meanwhile has a successor, which is awake.
        if (member.pid() === pid) member.signal('SIGCONT');
        paused.delete(member);
      }),
    );
  }
}
