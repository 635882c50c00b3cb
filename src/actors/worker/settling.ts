/**
 * Makes it so: what policy/settle decided about an attempt is stored first, and only then is the delivery
 * acknowledged. What cannot be stored is given back, and somebody tries again.
 */
import { asFailure, Failure } from '../../domain/failure.ts';
import type { Fault, FollowUp, Outcome, TaskMessage, TaskResult, TaskSpec } from '../../domain/task.ts';
import { mayHaveLapsed } from '../../policy/lease.ts';
import { decideSettlement, type AttemptOutcome, type Carry, type Settlement } from '../../policy/settle.ts';
import type { Scraper } from '../../scrapers/scraper.ts';
import type { Delivery, Lanes, StoreOutcome, WorkerLimits, WorkerPorts } from './ports.ts';

export interface Settler {
  attempt(ended: Ended): Promise<void>;
  /** Dead without an attempt. */
  bury(delivery: Delivery, error: { readonly code: string; readonly message: string }): Promise<void>;
  cancel(delivery: Delivery, why: string): Promise<void>;
  /** Comes again at this time, or when nothing holds it back, as if it had not been delivered. */
  postpone(delivery: Delivery, atMs: number | 'parked'): Promise<void>;
  /** To whoever asks next; not a word if the lease may be somebody else's by now. */
  giveBack(delivery: Delivery, delayMs: number): void;
  /** The same, as a message that nobody has been given yet. */
  giveBackAnew(delivery: Delivery): Promise<void>;
}

export interface Ended {
  readonly delivery: Delivery;
  readonly scraper: Scraper;
  readonly startedAt: number;
  readonly outcome: AttemptOutcome;
  /** What it wants done next. */
  readonly followUps: readonly FollowUp[];
}

/** The ledger is full or away: as long as it takes to notice that it is back. */
const UNSTORED_DELAY_MS = 5_000;

export function createSettler(
  ports: Pick<
    WorkerPorts,
    'storeOutcome' | 'storeNext' | 'submit' | 'lastBeatAt' | 'announce' | 'meter' | 'log'
  >,
  limits: WorkerLimits,
  lanes: Lanes,
): Settler {
  const { log } = ports;
  return { attempt, bury, cancel, postpone, giveBack, giveBackAnew };

  function attempt(ended: Ended): Promise<void> {
    const { delivery, startedAt, outcome, followUps } = ended;
    if (outcome.kind !== 'done') return decide(ended);
    // Nothing is to be decided about what went well; and there may be tens of thousands of those in a second.
    const stored = done(delivery.task, startedAt, outcome.result);
    return followUps.length === 0 ? store(delivery, stored) : storeAfterFollowUps(ended, stored);
  }

  /** Its run must not end between the two, so what it has led to is stored first; twice does no harm. */
  async function storeAfterFollowUps(ended: Ended, outcome: Outcome): Promise<void> {
    const { delivery, followUps } = ended;
    try {
      if (!ports.submit) throw new Failure('INTERNAL', 'this worker cannot enqueue');
      await ports.submit(followUps, delivery.task.spec);
    } catch (error) {
      const { code, message } = asFailure(error);
      return decide({ ...ended, outcome: { kind: 'failed', failure: { code, message } } });
    }
    return store(delivery, outcome);
  }

  function decide({ delivery, scraper, startedAt, outcome }: Ended): Promise<void> {
    const { spec } = delivery.task;
    const settlement = decideSettlement(
      outcome,
      {
        ...carryOf(delivery.task),
        createdAt: spec.createdAt,
        startedAt,
        now: Date.now(),
        random: Math.random(),
        worker: limits.worker,
      },
      { ...limits.settle, retries: scraper.retries ?? limits.settle.retries },
    );
    if (outcome.kind === 'failed') tell(settlement, spec, outcome.failure);
    switch (settlement.kind) {
      case 'done':
        return store(delivery, done(delivery.task, startedAt, settlement.result));
      case 'bury':
        return store(delivery, dead(spec, settlement.faults, settlement.error));
      case 'cancelled':
        return cancel(delivery, settlement.why);
      case 'retry':
      case 'defer':
        return again(delivery, settlement.carry, settlement.atMs);
      case 'swap':
        return again(delivery, settlement.carry, undefined);
      case 'give-back':
        giveBack(delivery, 0);
        return Promise.resolve();
    }
  }

  function done({ spec, faults }: TaskMessage, startedAt: number, result: TaskResult): Outcome {
    return { state: 'done', spec, at: Date.now(), faults, worker: limits.worker, startedAt, result };
  }

  function bury(
    delivery: Delivery,
    error: { readonly code: string; readonly message: string },
  ): Promise<void> {
    const { spec, faults } = delivery.task;
    ports.announce('buried', { ...nameOf(spec), ...error });
    return store(delivery, dead(spec, faults, error));
  }

  function cancel(delivery: Delivery, reason: string): Promise<void> {
    const { spec, faults } = delivery.task;
    return store(delivery, { state: 'cancelled', spec, at: Date.now(), faults, reason });
  }

  function postpone(delivery: Delivery, atMs: number | 'parked'): Promise<void> {
    return again(delivery, carryOf(delivery.task), atMs);
  }

  /** Not async: the outcome, and with it the page that it was taken from, would stay in memory until it is stored. */
  function store(delivery: Delivery, outcome: Outcome): Promise<void> {
    try {
      const storing = ports.storeOutcome(outcome, delivery.task.acceptSeq);
      return storing.then((stored) => finish(delivery, stored));
    } catch (error) {
      return Promise.reject(asFailure(error));
    }
  }

  async function again(delivery: Delivery, carry: Carry, atMs: number | 'parked' | undefined): Promise<void> {
    const { spec, acceptSeq } = delivery.task;
    finish(delivery, await ports.storeNext({ spec, acceptSeq, ...carry }, atMs));
  }

  function finish(delivery: Delivery, stored: StoreOutcome): void {
    if (stored.kind !== 'failed') {
      if (stored.kind === 'refused') log.debug('task.refused', nameOf(delivery.task.spec));
      lanes.ack(delivery);
      return;
    }
    log.warn('task.unstored', { ...nameOf(delivery.task.spec), reason: stored.reason });
    giveBack(delivery, UNSTORED_DELAY_MS);
  }

  function giveBack(delivery: Delivery, delayMs: number): void {
    if (isStillOurs(delivery)) lanes.giveBack(delivery, delayMs);
  }

  async function giveBackAnew(delivery: Delivery): Promise<void> {
    if (isStillOurs(delivery)) await again(delivery, carryOf(delivery.task), undefined);
  }

  function isStillOurs({ leasedAt }: Delivery): boolean {
    const facts = { now: performance.now(), leasedAt, beatAt: ports.lastBeatAt() };
    return !mayHaveLapsed(facts, limits.leaseMs);
  }

  function tell(settlement: Settlement, spec: TaskSpec, failure: { code: string; message: string }): void {
    const { kind, reason } = settlement;
    const facts = { ...nameOf(spec), code: failure.code, message: failure.message, reason };
    if (kind === 'retry' || kind === 'swap') ports.meter?.retried(failure.code);
    if (kind === 'defer') ports.meter?.deferred(reason);
    if (kind === 'bury') ports.announce('buried', facts);
    else if (kind === 'retry' || kind === 'swap') ports.announce('failed', facts);
    else log.debug('task.waits', { ...facts, kind });
  }
}

function nameOf({ run, id, scraper }: TaskSpec): { run: string; id: string; scraper: string } {
  return { run, id, scraper };
}

function carryOf({ faults, triedProxies, deferrals, deferredSince }: TaskMessage): Carry {
  return { faults, triedProxies, deferrals, deferredSince };
}

function dead(
  spec: TaskSpec,
  faults: readonly Fault[],
  error: { readonly code: string; readonly message: string },
): Outcome {
  return { state: 'dead', spec, at: Date.now(), faults, error };
}
