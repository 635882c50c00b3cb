/**
 * Worker: many copies, all alike. Takes tasks by priority, runs their handlers, stores what became of them, and only
 * then lets them go. Told to be quiet it takes no more and gives back what it has not started; told to abort it gives
 * back the rest as well. Neither is a fault of any task.
 */
import type { Vitals } from '../domain/beat.ts';
import type { TaskSpec } from '../domain/task.ts';
import { planPrefetch, SLOW_MS } from '../policy/prefetch.ts';
import type { Actor, Stop } from '../runtime/actor.ts';
import { tellToEnd } from './worker/attempt.ts';
import { createCalls, type CallAnswer, type Calls } from './worker/calls.ts';
import { createCrew, type Crew } from './worker/crew.ts';
import type { Delivery, Hand, Lanes, WorkerLimits, WorkerPorts } from './worker/ports.ts';
import { refillLanes, withdrawAll } from './worker/refill.ts';
import { createSettler, type Settler } from './worker/settling.ts';
import { createSlots, type Slots } from './worker/slots.ts';
import { listInHand, sweep } from './worker/upkeep.ts';

export interface Worker extends Actor {
  /** Tasks and calls that it works on. */
  inFlight(): number;
  /** The same by run. */
  inFlightByRun(): ReadonlyMap<string, number>;
  vitals(): Vitals;
  /** Where each of the deliveries that it has can be answered, begun or not. */
  held(): readonly string[];
  /** Runs the handler for somebody who waits; the answer is not stored. */
  call(spec: TaskSpec, limitMs: number): Promise<CallAnswer>;
}

const SWEEP_MAX_MS = 250;
/** With nothing in hand there is little to look after, and what comes ends the rest. */
const REST_MS = 2_000;
const SWEEPS_PER_LEASE = 12;
const HANDS_EVERY_MS = 1_000;
const ASK_EMPTY_EVERY_MS = 500;
/** After the grace of the handlers nothing is waited for any longer: what was not stored comes back by its lease. */
const LEAVE_AFTER_MS = 2_000;

export function createWorker(ports: WorkerPorts, limits: WorkerLimits): Worker {
  const slots = createSlots({ ports, limits });
  let begun: { readonly crew: Crew; readonly calls: Calls } | undefined;
  return {
    role: 'worker',
    inFlight: () => (begun ? begun.crew.running.size + begun.crew.settling.size + begun.calls.running() : 0),
    inFlightByRun: () => (begun ? countByRun(begun.crew) : new Map()),
    vitals: () => ({ slotsNow: slots.now(), limitedBy: [...slots.limitedBy()] }),
    held: () => (begun ? listHeld(begun.crew) : []),
    call: async (spec, limitMs) =>
      begun ? begun.calls.call(spec, limitMs) : { state: 'refused', reason: 'stopping' },
    run: (stop) => work({ ports, limits, slots }, stop, (crew, calls) => (begun = { crew, calls })),
  };
}

function listHeld({ waiting, suspects, running, settling }: Crew): string[] {
  const started = [...running].map(({ delivery }) => delivery);
  return [...waiting.list(), ...suspects, ...started, ...settling].map(({ reply }) => reply);
}

function countByRun({ running, settling }: Crew): Map<string, number> {
  const counts = new Map<string, number>();
  const deliveries = [...[...running].map(({ delivery }) => delivery), ...settling];
  for (const { task } of deliveries) counts.set(task.spec.run, (counts.get(task.spec.run) ?? 0) + 1);
  return counts;
}

async function work(
  { ports, limits, slots }: { ports: WorkerPorts; limits: WorkerLimits; slots: Slots },
  stop: Stop,
  onBegin: (crew: Crew, calls: Calls) => void,
): Promise<void> {
  let taking = true;
  let lanesClosed = false;
  let refillPlanned = false;
  let handsToldAt = 0;
  let handsTold = '';
  let askedEmptyAt = 0;
  let slowMs: readonly number[] = []; // at the last tick
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));

  const lanes: Lanes = ports.openLanes({ onDelivery, onRoom: planRefill });
  const settler: Settler = createSettler(ports, limits, lanes);
  const crew: Crew = createCrew({
    ...{ ports, limits, slots, settler, onChange },
    callsRunning: () => calls.running(),
  });
  const calls = createCalls({
    ...{ ports, limits, slots },
    isTaking: () => taking,
    tasksRunning: () => crew.running.size,
    isReserved: () => crew.isReserved(),
    onEnd() {
      crew.pump();
      onChange();
    },
  });
  onBegin(crew, calls);
  const forget = ports.onCancelled((cancelled) => crew.cancel(cancelled));
  const forgetGate = ports.onOpen?.(planRefill);
  let resting = false;
  let sweeper: NodeJS.Timeout | undefined;
  tickLater();
  stop.quiet.addEventListener('abort', quiet, { once: true });
  stop.abort.addEventListener('abort', abort, { once: true });

  if (stop.quiet.aborted) quiet();
  else refill();
  if (stop.abort.aborted) abort();
  try {
    await over;
  } finally {
    resting = false;
    clearTimeout(sweeper);
    forget();
    forgetGate?.();
    stop.quiet.removeEventListener('abort', quiet);
    stop.abort.removeEventListener('abort', abort);
    ports.tellInHand([]);
  }

  function onDelivery(delivery: Delivery): void {
    if (taking && ports.isOpen()) {
      crew.receive(delivery);
      planRefill();
    } else crew.giveBack(delivery);
    if (resting) tickLater();
  }

  function onChange(): void {
    planRefill();
    if (lanesClosed && crew.isIdle() && calls.running() === 0) end();
  }

  /** Once per turn of the loop, however many tasks have come and gone in it. */
  function planRefill(): void {
    if (refillPlanned || !taking) return;
    refillPlanned = true;
    setImmediate(() => {
      refillPlanned = false;
      if (taking) refill();
    });
  }

  function refill(): void {
    const takes = ports.isOpen() && !crew.isReserved();
    const running = crew.running.size;
    const facts = { concurrency: slots.now(), running, taskMs: crew.taskMs(), slowMs };
    refillLanes(lanes, takes ? planPrefetch(facts, limits).perLane : 0, crew.waiting.counts);
  }

  function tickLater(): void {
    clearTimeout(sweeper);
    resting = taking && ports.isOpen() && !ports.isEmpty && crew.isIdle() && calls.running() === 0;
    const busyMs = Math.min(SWEEP_MAX_MS, limits.leaseMs / SWEEPS_PER_LEASE);
    sweeper = setTimeout(tick, resting ? REST_MS : busyMs);
  }

  function tick(): void {
    sweep({ ports, limits, crew, lanes });
    slowMs = crew.runningLonger(SLOW_MS);
    if (taking && !ports.isOpen()) crew.giveBackUnstarted();
    if (slots.look() === 'lowered') withdrawAll(lanes);
    slots.used(crew.running.size + calls.running());
    crew.pump();
    planRefill();
    tellHands();
    askEmpty();
    tickLater();
  }

  function tellHands(): void {
    const now = performance.now();
    if (now - handsToldAt < HANDS_EVERY_MS) return;
    handsToldAt = now;
    const hands: readonly Hand[] = listInHand(crew);
    const told = hands.map(({ reply }) => reply).join(' ');
    if (told !== '' || handsTold !== '') ports.tellInHand(hands);
    handsTold = told;
  }

  function askEmpty(): void {
    const now = performance.now();
    if (!ports.isEmpty || !taking || !crew.isIdle() || now - askedEmptyAt < ASK_EMPTY_EVERY_MS) return;
    askedEmptyAt = Infinity; // until it is answered
    ports.isEmpty().then(
      (empty) => {
        askedEmptyAt = performance.now();
        if (empty && crew.isIdle()) quiet();
      },
      () => (askedEmptyAt = performance.now()),
    );
  }

  function quiet(): void {
    if (!taking) return;
    taking = false;
    crew.close();
    void lanes.close().then(() => {
      lanesClosed = true;
      onChange();
    });
  }

  function abort(): void {
    quiet();
    for (const attempt of crew.running) tellToEnd(attempt, { kind: 'stopping' });
    calls.abort();
    setTimeout(end, limits.abortGraceMs + LEAVE_AFTER_MS).unref();
  }
}
