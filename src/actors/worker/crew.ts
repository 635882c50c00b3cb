/**
 * The tasks that one worker has in hand: waiting, running, being settled; and the order in which they start.
 *
 *   delivered → waiting ─────────────→ running → settling → gone
 *             → suspect (→ alone) ──↗
 *
 * A slot is held by a handler only while it runs; what waits for the ledger is bounded apart, because outcomes are
 * stored in batches and a slot that waits for its batch would do nothing. A suspect starts when all else has
 * been settled, and nothing starts beside it.
 */
import { mayHaveLapsed } from '../../policy/lease.ts';
import { judgeDelivery } from '../../policy/poison.ts';
import type { AttemptOutcome } from '../../policy/settle.ts';
import { messageOf } from '../../domain/failure.ts';
import { startAttempt, tellToEnd, type Attempt } from './attempt.ts';
import type { Cancelled, Delivery, WorkerLimits, WorkerPorts } from './ports.ts';
import type { Settler } from './settling.ts';
import type { Slots } from './slots.ts';
import { createSolo } from './solo.ts';
import { createWaitingRoom, type WaitingRoom } from './waiting-room.ts';

export interface Crew {
  readonly waiting: WaitingRoom;
  readonly suspects: Delivery[];
  readonly running: ReadonlySet<Attempt>;
  readonly settling: ReadonlySet<Delivery>;
  /** No ordinary task may start, because a suspect runs or waits for its turn. */
  isReserved(): boolean;
  isIdle(): boolean;
  /** Recent mean of a handler; undefined until one has ended. */
  taskMs(): number | undefined;
  /** For how long each has been running that runs for longer than this. */
  runningLonger(thanMs: number): number[];
  /** When the last one was started (monotonic ms). */
  lastStartMs(): number;
  receive(delivery: Delivery): void;
  /** Starts what may start. */
  pump(): void;
  cancel(cancelled: Cancelled): void;
  /** To others, who have not had it from us: it was not started. */
  giveBack(delivery: Delivery): void;
  giveBackUnstarted(): void;
  /** Nothing starts any more; what was not started is given back. */
  close(): void;
}

export interface CrewParts {
  readonly ports: WorkerPorts;
  readonly limits: WorkerLimits;
  readonly settler: Settler;
  readonly slots: Pick<Slots, 'now' | 'used'>;
  /** Handlers that answer calls; they take slots too. */
  callsRunning?(): number;
  /** Something ended: there may be room, or nothing left to do. */
  onChange(): void;
}

/** A task of a scraper that others have goes back to the queue, where one of them may meet it. */
const PUT_OFF_MS = { elsewhere: 500, awaited: 5_000 } as const;
/** The weight of the latest task in the mean. */
const MEAN_WEIGHT = 0.05;

export function createCrew(parts: CrewParts): Crew {
  const { ports, limits, settler } = parts;
  const waiting = createWaitingRoom();
  const suspects: Delivery[] = [];
  const running = new Set<Attempt>();
  const settling = new Set<Delivery>();
  const solo = createSolo({ ports, limits, settler, settling, isClosed: () => closed, startAndWait });
  let closed = false;
  let alone = false;
  let aloneEnded = (): void => undefined;
  let taskMs: number | undefined;
  let lastStartMs = -Infinity;

  return {
    waiting,
    suspects,
    running,
    settling,
    isReserved,
    isIdle: () => waiting.size() + suspects.length + running.size + settling.size === 0 && !alone,
    taskMs: () => taskMs,
    runningLonger,
    lastStartMs: () => lastStartMs,
    receive,
    pump,
    cancel,
    giveBack,
    giveBackUnstarted,
    close() {
      closed = true;
      giveBackUnstarted();
    },
  };

  function isReserved(): boolean {
    return alone || suspects.length > 0;
  }

  function receive(delivery: Delivery): void {
    if (isTrusted(delivery.deliveries)) waiting.add(delivery);
    else suspects.push(delivery);
    pump();
  }

  /** Of a suspect only the delivery count is known here; how often it started alone is asked when its turn comes. */
  function isTrusted(deliveries: number): boolean {
    return judgeDelivery({ deliveries, soloStarts: 0 }, limits.poison).verdict === 'run';
  }

  function giveBackUnstarted(): void {
    for (const delivery of [...waiting.remove(() => true), ...suspects.splice(0)]) giveBack(delivery);
  }

  /** It has not even been started here: that must not make a suspect of it, so its deliveries are counted anew. */
  function giveBack(delivery: Delivery): void {
    const { deliveries } = delivery;
    if (isTrusted(deliveries) && !isTrusted(deliveries + 1)) settle(delivery, settler.giveBackAnew(delivery));
    else settler.giveBack(delivery, 0);
  }

  function pump(): void {
    if (closed) return;
    if (isReserved()) {
      if (!alone && running.size + settling.size === 0) startSuspect();
      return;
    }
    const calls = parts.callsRunning?.() ?? 0;
    while (running.size + calls < parts.slots.now() && settling.size < limits.settlingMax) {
      const delivery = waiting.take();
      if (!delivery) return;
      // A worker that has slept may wake with tasks that are somebody else's by now.
      if (!hasLapsed(delivery)) start(delivery);
      parts.slots.used(running.size + calls);
    }
  }

  function hasLapsed({ leasedAt }: Delivery): boolean {
    return mayHaveLapsed({ now: performance.now(), leasedAt, beatAt: ports.lastBeatAt() }, limits.leaseMs);
  }

  function start(delivery: Delivery): void {
    const { spec } = delivery.task;
    if (ports.pausedBy(spec) !== undefined) {
      ports.meter?.deferred('paused');
      settle(delivery, settler.postpone(delivery, 'parked'));
      return;
    }
    const scraper = ports.findScraper(spec.scraper);
    if (!scraper) {
      turnAway(delivery);
      return;
    }
    const timeoutMs = scraper.timeoutMs ?? limits.timeoutMs;
    if (delivery.queuedAt !== undefined) ports.meter?.waited(Date.now() - delivery.queuedAt);
    const attempt = startAttempt({ delivery, scraper, timeoutMs, ports, onEnd: ended });
    running.add(attempt);
    lastStartMs = attempt.startedMs;
  }

  function turnAway(delivery: Delivery): void {
    const { scraper } = delivery.task.spec;
    const absence = ports.judgeAbsence?.(scraper) ?? 'nobody';
    if (absence === 'nobody') {
      const message = `no running worker has a scraper ${JSON.stringify(scraper)}, and none had it within the last minute`;
      settle(delivery, settler.bury(delivery, { code: 'NO_HANDLER', message }));
      return;
    }
    ports.meter?.deferred('other-worker');
    settle(delivery, settler.postpone(delivery, Date.now() + PUT_OFF_MS[absence]));
  }

  function runningLonger(thanMs: number): number[] {
    const now = performance.now();
    return [...running].map(({ startedMs }) => now - startedMs).filter((ms) => ms > thanMs);
  }

  function ended(attempt: Attempt, outcome: AttemptOutcome): void {
    const { delivery, scraper, startedAt, followUps } = attempt;
    running.delete(attempt);
    const ms = performance.now() - attempt.startedMs;
    ports.meter?.attempted(ms);
    taskMs = taskMs === undefined ? ms : taskMs + (ms - taskMs) * MEAN_WEIGHT;
    settle(delivery, settler.attempt({ delivery, scraper, startedAt, outcome, followUps }));
    pump();
  }

  function settle(delivery: Delivery, settled: Promise<void>): void {
    settling.add(delivery);
    const gone = (): void => {
      settling.delete(delivery);
      if (alone && running.size + settling.size === 0) aloneEnded();
      pump();
      parts.onChange();
    };
    settled.then(gone, (error: unknown) => {
      ports.log.error('task.unsettled', { id: delivery.task.spec.id, reason: messageOf(error) });
      gone();
    });
  }

  function startSuspect(): void {
    const delivery = suspects.shift();
    if (!delivery || hasLapsed(delivery)) return;
    alone = true;
    void solo.run(delivery).finally(() => {
      alone = false;
      pump();
      parts.onChange();
    });
  }

  function startAndWait(delivery: Delivery): Promise<void> {
    return new Promise((resolve) => {
      aloneEnded = resolve;
      start(delivery);
    });
  }

  function cancel({ run, id }: Cancelled): void {
    const fits = ({ task: { spec } }: Delivery): boolean =>
      spec.run === run && (id === undefined || spec.id === id);
    const why = id === undefined ? 'its run was cancelled' : 'it was cancelled';
    for (const attempt of running) if (fits(attempt.delivery)) tellToEnd(attempt, { kind: 'cancelled', why });
    const unstarted = [...waiting.remove(fits), ...suspects.filter(fits)];
    for (const delivery of unstarted) settle(delivery, settler.cancel(delivery, why));
    suspects.splice(0, suspects.length, ...suspects.filter((delivery) => !fits(delivery)));
  }
}
