/**
 * Sink: follows the ledger and delivers items, at its own pace. One process per name leads; the others wait.
 *
 * A term is a row of sessions. A session opens the target, reads on behind the position, and delivers batch by batch:
 * rows are written, what is refused is put aside, then the position is committed, then the ledger's consumer is told.
 * Any trouble ends the session; the next one begins after a pause that doubles, at the last committed position.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure } from '../domain/failure.ts';
import { AT_THE_START, type Checkpoint } from '../domain/sink.ts';
import { backoffMs } from '../policy/backoff.ts';
import type { Actor, Stop } from '../runtime/actor.ts';
import { inBatches } from '../sinks/batches.ts';
import { deliverBatch } from './sink/deliver.ts';
import type { SinkEntry, SinkPorts, SinkTerm } from './sink/ports.ts';
import { createProgress, type Progress } from './sink/progress.ts';

const BATCH = { entries: 1_000, bytes: 8 * 1024 * 1024, lingerMs: 50 };
const PATIENCE_MS = 5_000;
const BACKOFF = { baseMs: 250, maxMs: 30_000 };
const REOPEN_MS = 250;

export interface SinkOptions {
  readonly kinds?: readonly string[] | undefined;
  /** Ends by itself when everything is delivered that is there. */
  readonly untilEmpty: boolean;
}

export function createSink(ports: SinkPorts, options: SinkOptions): Actor {
  const { log } = ports;
  return { role: 'sink', run };

  async function run(stop: Stop): Promise<void> {
    const enough = new AbortController();
    const end = (): void => enough.abort(stop.quiet.reason);
    if (stop.quiet.aborted) end();
    stop.quiet.addEventListener('abort', end, { once: true });
    try {
      await ports.lead(enough.signal, (term) => lead(term, stop, () => enough.abort()));
    } finally {
      stop.quiet.removeEventListener('abort', end);
    }
  }

  async function lead(term: SinkTerm, stop: Stop, finish: () => void): Promise<void> {
    const progress = await createProgress(term, ports);
    let failures = 0;
    while (!term.over.aborted) {
      try {
        const { delivered, empty } = await runSession(term, progress, stop);
        if (delivered) failures = 0;
        if (empty) {
          finish();
          return;
        }
        if (!isOver(term)) await pause(REOPEN_MS, term.over);
      } catch (error) {
        const failure = asFailure(error);
        if (failure.code === 'CONFLICT' || failure.code === 'INVALID') throw failure;
        if (isOver(term)) return;
        failures = progress.takeDelivered() ? 1 : failures + 1;
        const waitMs = Math.max(
          backoffMs(failures, BACKOFF, ports.random()),
          Math.min((failure.retryAtMs ?? 0) - ports.now(), BACKOFF.maxMs),
        );
        log.warn('sink.failed', {
          reason: failure.message,
          code: failure.code,
          retryInMs: Math.round(waitMs),
        });
        ports.meters.failed();
        await progress.tellError(failure.message);
        await pause(waitMs, term.over);
      }
    }
    await progress.save();
  }

  /** Ends when the term does, when the reading is in doubt, or when all is delivered and that is enough. */
  async function runSession(
    term: SinkTerm,
    progress: Progress,
    stop: Stop,
  ): Promise<{ delivered: boolean; empty: boolean }> {
    const target = ports.createTarget();
    const ended = new AbortController();
    const end = (): void => ended.abort();
    term.over.addEventListener('abort', end, { once: true });
    if (term.over.aborted) end();
    const onReplay = progress.onReplay(end);
    let delivered = false;
    try {
      const ledger = await ports.readLedger(ended.signal);
      if (ledger === undefined) return { delivered, empty: false };
      const checkpoint = await whereToStart(ledger, { target, progress });
      const tail = await ports.openTail({ ledger, after: checkpoint.seq }, ended.signal);
      if (!tail) return { delivered, empty: false };
      const atEnd = (pending: number): boolean => options.untilEmpty && pending === 0;
      if (atEnd(tail.pending)) return { delivered, empty: true };
      const first =
        checkpoint.pending === undefined
          ? undefined
          : { through: checkpoint.pending, patienceMs: PATIENCE_MS };
      for await (const batch of inBatches<SinkEntry>(tail.entries, BATCH, first)) {
        const context = { target, term, progress, stop, kinds: options.kinds };
        await deliverBatch(batch, context, ports);
        delivered = true;
        if (atEnd(batch.at(-1)?.pending ?? 1)) return { delivered, empty: true };
        if (isOver(term) || ended.signal.aborted) break;
      }
      return { delivered, empty: false };
    } finally {
      onReplay();
      ended.abort();
      term.over.removeEventListener('abort', end);
      await progress.save().catch((error: unknown) => log.debug('sink.unsaved', { reason: error }));
      await target.close();
    }
  }

  /** The target's own word counts where it has one. A wish to start over that it has not followed yet comes first. */
  async function whereToStart(
    ledger: string,
    { target, progress }: { target: ReturnType<SinkPorts['createTarget']>; progress: Progress },
  ): Promise<Checkpoint> {
    const { life, isNew } = progress.enter(ledger);
    if (isNew) progress.partial = undefined;
    // Kept before the target hears of it: after a crash this life goes on, and does not begin once more.
    await progress.save();
    const own = await target.open({ life, replayed: progress.checkpoint().replayed });
    const reason = own?.reason ?? (isNew ? 'new-ledger' : 'goes-on');
    if (reason === 'known-ledger') log.info('sink.came-back', { ...life });
    else if (reason !== 'goes-on') log.info('sink.started-over', { reason, ...life });
    const replay = progress.replay();
    let checkpoint = own?.checkpoint ?? progress.checkpoint();
    if (replay !== undefined && checkpoint.replayed !== replay) {
      log.info('sink.started-over', { reason: 'replay', replay });
      progress.partial = undefined;
      checkpoint = { ...AT_THE_START, life, replayed: replay };
      await target.startOver(checkpoint, replay);
    }
    progress.set(checkpoint);
    await progress.save();
    return checkpoint;
  }
}

function isOver({ over }: SinkTerm): boolean {
  return over.aborted;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
