/**
 * Takes submissions in, from everything that has no run in its subject and from the runs that are active. Each source
 * asks for one turn at a time, so the runs feed the queue in rotation; what is under way is bounded in bytes, and
 * nothing is begun while the queue is full. A message that cannot be taken in now goes back, and comes again; one that
 * may be somebody else's by now is let lie without a word.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/failure.ts';
import type { Stop } from '../../runtime/actor.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Intake, IntakeMessage, IntakeSource } from '../../wire/intake.ts';
import type { ParsedSubmission } from '../../wire/submission.ts';
import type { TakeIn } from './take-in.ts';
import { createTurns } from './turns.ts';
import type { Watermark } from './watermark.ts';

export interface IntakeLoopParts {
  readonly intake: Pick<Intake, 'messages'>;
  readonly takeIn: TakeIn;
  readonly watermark: Watermark;
  /** A message of a source has been taken in. */
  readonly taken: (message: IntakeMessage) => void;
  readonly log: Log;
}

export interface IntakeLoop {
  /** Takes from exactly these runs from now on, beside what has no run. */
  feedFrom(runs: ReadonlySet<string>): void;
  /** Ends when told, with what it had in hand taken in. */
  run(stop: Stop): Promise<void>;
}

/** Messages under way at once: a chunk of a thousand URLs has some 50 kB. */
const BUDGET_BYTES = 512 * 1024;
const LEAST_BYTES = 1024;
const RETRY_MS = 1_000;
const NO_RUN = '';

export function createIntakeLoop(parts: IntakeLoopParts): IntakeLoop {
  const { intake, takeIn, watermark, log } = parts;
  const turns = createTurns(BUDGET_BYTES);
  const feeds = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();
  let wanted: ReadonlySet<string> = new Set();
  let quiet: AbortSignal | undefined;
  let stuck = false;

  return {
    feedFrom(runs) {
      wanted = runs;
      reconcile();
    },
    async run(stop) {
      quiet = stop.quiet;
      reconcile();
      stop.quiet.addEventListener('abort', reconcile, { once: true });
      await new Promise<void>((resolve) => {
        stop.abort.addEventListener('abort', () => resolve(), { once: true });
        stop.quiet.addEventListener('abort', () => void settled().then(resolve), { once: true });
        if (stop.quiet.aborted) void settled().then(resolve);
      });
    },
  };

  async function settled(): Promise<void> {
    await Promise.all(running);
    await turns.idle();
  }

  function reconcile(): void {
    if (!quiet) return;
    const names = quiet.aborted ? new Set<string>() : new Set([NO_RUN, ...wanted]);
    for (const [name, feed] of feeds) {
      if (names.has(name)) continue;
      feed.abort();
      feeds.delete(name);
    }
    for (const name of names) {
      if (feeds.has(name)) continue;
      const control = new AbortController();
      feeds.set(name, control);
      const work = feed(name === NO_RUN ? {} : { run: name }, control.signal);
      running.add(work);
      void work.finally(() => running.delete(work));
    }
  }

  async function feed(source: IntakeSource, signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        for await (const message of intake.messages(source, signal)) await begin(message, signal);
      } catch (error) {
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
        // A run that has ended loses its consumer a moment before we hear of it.
        if (!isOver()) log.warn('intake.source-failed', { run: source.run ?? '', reason: messageOf(error) });
      }
    }
  }

  /** Resolves when the source may bring its next message: each waits with one message at most, in line with the others. */
  async function begin(message: IntakeMessage, signal: AbortSignal): Promise<void> {
    const endTurn = await turns.take(Math.max(message.bytes, LEAST_BYTES));
    try {
      const submitted = message.headerRun === undefined ? message.parse() : undefined;
      const leave = await watermark.enter(submitted?.requests.length ?? 0, signal);
      const end = (): void => {
        leave();
        endTurn();
      };
      if (!signal.aborted) return void handle(message, submitted).finally(end);
      message.giveBack(0);
      end();
    } catch (error) {
      refuse(message, error);
      endTurn();
    }
  }

  async function handle(message: IntakeMessage, submitted: ParsedSubmission | undefined): Promise<void> {
    try {
      const end = await takeIn(message, submitted);
      if (end === 'lapsed' || !message.isHeld()) {
        log.info('intake.lapsed', { seq: message.seq });
        return;
      }
      message.ack();
      parts.taken(message);
      if (stuck) log.info('intake.resumed');
      stuck = false;
    } catch (error) {
      refuse(message, error);
    }
  }

  function refuse(message: IntakeMessage, error: unknown): void {
    message.giveBack(RETRY_MS);
    if (!stuck) log.warn('intake.stuck', { seq: message.seq, reason: messageOf(error) });
    stuck = true;
  }
}
