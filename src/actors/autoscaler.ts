/**
 * Autoscaler: n copies, one leads. The leader measures, decides, stores what it wants under its lock, and only then acts:
 * the server refuses the wish of one that no longer leads, so it does not act either. What people ask for goes through
 * the same gate, one at a time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, Failure, messageOf } from '../domain/failure.ts';
import type { WorkerSnapshot } from '../domain/snapshot.ts';
import type { Guard } from '../policy/autoscale/caps.ts';
import { noteChange, type LastChanges } from '../policy/autoscale/cooldown.ts';
import { decide, type ScaleDecision } from '../policy/autoscale/decide.ts';
import { explainDecision } from '../policy/autoscale/explain.ts';
import { withInflow, type Load } from '../policy/autoscale/load.ts';
import type { Actor } from '../runtime/actor.ts';
import type { AutoscalerOptions, AutoscalerPorts, Measured, ScaleTerm } from './autoscaler/ports.ts';

const LOADS_KEPT = 10;
const NONE = { up: 0, down: 0, hold: 0, repair: 0 };

export function createAutoscaler(ports: AutoscalerPorts, options: AutoscalerOptions): Actor {
  return {
    role: 'autoscaler',
    run: (stop) => ports.lead(stop.quiet, (term) => serveTerm(ports, options, term)),
  };
}

async function serveTerm(ports: AutoscalerPorts, options: AutoscalerOptions, term: ScaleTerm): Promise<void> {
  const { limits, intervalMs, driver, source } = options;
  const loads: Load[] = [];
  let record = await term.load();
  let latest: { decision: ScaleDecision; at: number } | undefined;
  let nextAt = ports.now();
  let turn = Promise.resolve();

  const close = await term.serve({
    scale: (count) => inTurn(() => scaleByHand(count)),
    status: () => ({
      ...{ leader: ports.id, driver, source, limits, intervalMs, nextAt },
      ...(record && { record }),
      ...(latest && {
        decision: latest.decision,
        decidedAt: latest.at,
        words: explainDecision(latest.decision),
      }),
    }),
  });
  try {
    while (!term.over.aborted) {
      await inTurn(look);
      nextAt = ports.now() + intervalMs;
      await delay(intervalMs, undefined, { signal: term.over }).catch(() => undefined);
    }
  } finally {
    await close();
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async function look(): Promise<void> {
    const measured = await measure();
    const { ordered, guard } = await countWorkers(measured?.workers ?? []);
    const facts = {
      now: ports.now(),
      load: measured?.load,
      ordered,
      guard,
      desired: record?.desired,
      ...times(),
    };
    await carryOut(decide(facts, limits), measured?.workers ?? []);
  }

  async function measure(): Promise<Measured | undefined> {
    try {
      const { load, workers } = await ports.measure();
      const known = withInflow(load, loads);
      loads.push(known);
      if (loads.length > LOADS_KEPT) loads.shift();
      return { load: known, workers };
    } catch (error) {
      ports.log.warn('scale.unmeasured', { reason: messageOf(error) });
      return undefined;
    }
  }

  /** A driver that does not answer now may do so when it is needed; the workers that live are counted meanwhile. */
  async function countWorkers(
    workers: readonly WorkerSnapshot[],
  ): Promise<{ ordered: number | undefined; guard: Guard | undefined }> {
    try {
      const ordered = await ports.count(workers);
      return { ordered, guard: ports.guard(ordered ?? workers.length) };
    } catch (error) {
      ports.log.warn('scale.uncounted', { reason: messageOf(error) });
      return { ordered: undefined, guard: ports.guard(workers.length) };
    }
  }

  function times(): LastChanges {
    return { lastUpAt: record?.lastUpAt, lastDownAt: record?.lastDownAt };
  }

  async function scaleByHand(to: number): Promise<ScaleDecision> {
    if (driver === 'none')
      throw new Failure('REJECTED', 'this cluster only advises: nobody is told to start or end workers', {
        hint: 'Set autoscale.driver (process, command, kubernetes or swarm), or start workers with `trawl worker`.',
      });
    if (to < limits.min || to > limits.max)
      throw new Failure('INVALID', `${to} workers are not between ${limits.min} and ${limits.max}`, {
        hint: 'autoscale.min and autoscale.max are the limits.',
      });
    const measured = await measure();
    const workers = measured?.workers ?? [];
    const from = (await ports.count(workers)) ?? measured?.load.live ?? record?.desired ?? 0;
    const action = to > from ? 'up' : to < from ? 'down' : 'hold';
    const inputs = { ...times(), ...(measured && { load: measured.load }), ordered: from };
    const decision: ScaleDecision = {
      ...{ from, to, action, reason: 'manual', policy: limits.policy, limitedBy: [], inputs },
    };
    const failure = await carryOut(decision, workers);
    if (failure) throw failure;
    return decision;
  }

  /** The wish first, under the lock; then the deed. One that fails is told, and may be tried again at the next look. */
  async function carryOut(
    decision: ScaleDecision,
    workers: readonly WorkerSnapshot[],
  ): Promise<Failure | undefined> {
    const at = ports.now();
    const before = record;
    const { from, to, action, reason } = decision;
    const decisions = { ...(before?.decisions ?? NONE) };
    decisions[action] += 1;
    record = {
      desired: to,
      at,
      action,
      reason,
      decisions,
      by: ports.id,
      ...noteChange(times(), decision, at),
    };
    await term.save(record);
    latest = { decision, at };
    ports.announce('decided', { ...decision, words: explainDecision(decision) });
    if (from === to) return undefined;
    try {
      term.over.throwIfAborted();
      await ports.apply({ from, to, workers }, term.over);
      return undefined;
    } catch (error) {
      const failure = asFailure(error);
      ports.announce('failed', { from, to, action, reason: failure.message });
      if (term.over.aborted) return failure;
      record = { ...record, desired: from, lastUpAt: before?.lastUpAt, lastDownAt: before?.lastDownAt };
      await term.save(record);
      return failure;
    }
  }
}
