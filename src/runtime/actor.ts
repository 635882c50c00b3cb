/**
 * What every actor is: `run(stop)`, ending when told. Stopping has two steps. `quiet`: take no new work, finish what
 * is in hand. `abort`: the grace is over, cancel what remains and give it back.
 */
import type { Vitals } from '../domain/beat.ts';
import type { Role } from '../domain/role.ts';
import { Failure } from '../domain/failure.ts';

export interface Stop {
  readonly quiet: AbortSignal;
  readonly abort: AbortSignal;
}

export interface Actor {
  readonly role: Role;
  run(stop: Stop): Promise<void>;
  /** For one that has to open something first: resolves when whoever needs it will be answered. */
  readonly opened?: Promise<void>;
  /** Tasks that it has in hand. */
  inFlight?(): number;
  /** What its heartbeat tells besides. */
  vitals?(): Vitals;
  /** What its mailbox understands besides the verbs of every actor. */
  readonly verbs?: Readonly<Record<string, (body: unknown) => unknown>>;
  /** What its page answers besides the pages of every actor, by path. */
  readonly pages?: Readonly<Record<string, () => Promise<PageAnswer>>>;
  /** Metrics besides its own, as Prometheus reads them. */
  metrics?(): Promise<string>;
}

export interface PageAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export interface StopControl {
  readonly stop: Stop;
  /** First step; the second follows by itself after the grace. Calling it again changes nothing. */
  quiet(): void;
  /** First step alone: what is in hand is finished, however long it takes. A later `quiet` counts the grace after all. */
  drain(): void;
  /** Both steps at once. */
  abort(): void;
  /** Everything has ended: no grace is counted any more, also not after a late `quiet`. */
  settled(): void;
}

export function createStop(graceMs: number): StopControl {
  const quiet = new AbortController();
  const abort = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  let ended = false;

  return {
    stop: { quiet: quiet.signal, abort: abort.signal },
    quiet() {
      if (!ended) grace ??= setTimeout(abortNow, graceMs);
      quiet.abort(new Failure('CANCELLED', 'stopping'));
    },
    drain: () => quiet.abort(new Failure('CANCELLED', 'draining')),
    abort: abortNow,
    settled() {
      ended = true;
      clearTimeout(grace);
    },
  };

  function abortNow(): void {
    clearTimeout(grace);
    quiet.abort(new Failure('CANCELLED', 'stopping'));
    abort.abort(new Failure('CANCELLED', 'stopped before it was done'));
  }
}

/** A stop of one's own that follows another: for whoever may have to end before that one says so. */
export function followStop({ quiet, abort }: Stop, graceMs: number): StopControl {
  const own = createStop(graceMs);
  const steps: [AbortSignal, () => void][] = [
    [quiet, () => own.drain()], // its grace is the other's, who aborts at the end of it
    [abort, () => own.abort()],
  ];
  for (const [signal, step] of steps) {
    if (signal.aborted) step();
    else signal.addEventListener('abort', step, { once: true });
  }
  return {
    ...own,
    settled() {
      for (const [signal, step] of steps) signal.removeEventListener('abort', step);
      own.settled();
    },
  };
}

/** For `opened` of an actor. */
export function createOpening(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Resolves when the signal aborts; for actors that only wait. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
