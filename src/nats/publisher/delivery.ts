/**
 * Delivers one group of entries: as a batch, and in ever smaller parts if the batch is refused, until each entry
 * has an answer of its own.
 */
import { decideRefusal } from '../../policy/recheck.ts';
import { planRegroup } from '../../policy/regroup.ts';
import { REFUSED_CONFLICT, type Answer } from './answer.ts';
import type { CourierPorts } from './courier.ts';
import type { Entry } from './entry.ts';
import { findSuspects } from './suspects.ts';

export interface DeliveryPorts extends CourierPorts {
  send(entries: readonly Entry[]): Promise<Answer>;
  resubmit(entry: Entry): void;
}

export function createDelivery(ports: DeliveryPorts): (entries: readonly Entry[]) => Promise<void> {
  const { link } = ports;
  return async (entries) => {
    await deliver(entries);
  };

  /** False: some of it has to be sent again later, so nothing that comes after it may be sent now. */
  async function deliver(entries: readonly Entry[]): Promise<boolean> {
    const group = entries.filter((entry) => !entry.done);
    const [first] = group;
    if (first === undefined) return true;
    if (!link.isOpen()) {
      for (const entry of group) ports.resubmit(entry);
      return false;
    }
    const answer = await ports.send(group);
    if (group.length === 1) {
      ports.judge(first, answer);
      return answer.kind === 'stored' || answer.kind === 'refused';
    }
    if (answer.kind === 'refused') return regroup(group, answer.code);
    if (answer.kind !== 'committed') {
      for (const entry of group) ports.judge(entry, answer);
      return false;
    }
    const base = answer.seq - group.length + 1;
    for (const [position, entry] of group.entries())
      ports.judge(entry, { kind: 'stored', seq: base + position });
    return true;
  }

  async function regroup(group: readonly Entry[], code: number): Promise<boolean> {
    if (decideRefusal({ code, doubtful: false, expect: undefined }) === 'later') {
      link.holdOff();
      for (const entry of group) ports.resubmit(entry);
      return false;
    }
    const suspects =
      code === REFUSED_CONFLICT
        ? await findSuspects(ports.connection, ports.stream, group)
        : new Set<number>();
    const plan = planRegroup({ size: group.length, code, suspects });
    const pick = (positions: readonly number[]): Entry[] => positions.flatMap((i) => group[i] ?? []);
    return deliverParts(pick(plan.singles), plan.batches.map(pick));
  }

  async function deliverParts(singles: readonly Entry[], batches: readonly Entry[][]): Promise<boolean> {
    const answers = await Promise.all(singles.map((entry) => deliver([entry])));
    let goOn = answers.every(Boolean);
    for (const batch of batches) {
      if (goOn) goOn = await deliver(batch);
      else for (const entry of batch) ports.resubmit(entry);
    }
    return goOn;
  }
}
