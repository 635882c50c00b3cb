/**
 * Leader election: every candidate tries to take the lock; who does not get it follows its key until it comes free.
 *
 *   waiting → (the key is gone, or nothing was heard of it for longer than its limit) → trying
 *   trying  → taken: leading; held by another: waiting; no answer: a pause, then trying
 *   leading → lost: waiting, once `lead` has ended; stopped: release and return
 *
 * At most one leader can *write* at any time, because its writes carry the lock's token and the server refuses an
 * old one. What a leader does outside the bucket it must do only while `signal` is not aborted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, Failure, messageOf, type FailureCode } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import type { Bucket } from './bucket.ts';
import { acquireLock, type Lock } from './lock.ts';

export interface LeaderOptions {
  readonly bucket: Bucket;
  readonly name: string;
  readonly ttlMs: number;
  readonly owner: string;
  readonly log: Log;
  readonly quiet: AbortSignal;
  /** Runs for one term. The signal aborts when the term is lost, when `quiet` is, and when `lead` ends; then it must end. */
  readonly lead: (term: Lock, signal: AbortSignal) => Promise<void>;
}

const PAUSE_MS = 500;
const UNSEEN_MS = 50;
const OUTAGE: ReadonlySet<FailureCode> = new Set(['UNAVAILABLE', 'TIMEOUT']);

/**
 * Campaigns and leads until `quiet`. A term whose `lead` ends early or fails is given up; a failure is thrown
 * after the lock was released, unless it only says that the term was over or that NATS is away.
 */
export async function runAsLeader(options: LeaderOptions): Promise<void> {
  const { ttlMs, quiet } = options;
  while (!quiet.aborted) {
    const term = await tryToTake(options);
    if (term && term !== 'unknown') await serve(options, term);
    // Its holder renews three times within the limit: longer silence means that we missed the end of it.
    if (!term) await untilFree(options, ttlMs * (1.1 + Math.random() / 4));
    // Others get their chance, and neither a `lead` that ends at once nor an unreachable NATS makes this spin.
    else await pause(quiet);
  }
}

async function tryToTake({
  bucket,
  name,
  ttlMs,
  owner,
  log,
}: LeaderOptions): Promise<Lock | undefined | 'unknown'> {
  try {
    return await acquireLock(bucket, name, { ttlMs, owner });
  } catch (error) {
    log.warn('leader.campaign-failed', { lock: name, reason: messageOf(error) });
    return 'unknown';
  }
}

async function serve({ name, log, quiet, lead }: LeaderOptions, term: Lock): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort(quiet.aborted ? quiet.reason : term.lost.reason);
  const signals = [quiet, term.lost];
  for (const signal of signals) signal.addEventListener('abort', end, { once: true });
  if (signals.some((signal) => signal.aborted)) end();
  log.info('leader.elected', { lock: name });
  try {
    await lead(term, over.signal);
  } catch (error) {
    // Without NATS a term cannot go on, whether or not it is lost by the clock yet; that is no fault of the actor's.
    if (!over.signal.aborted && !OUTAGE.has(asFailure(error).code)) throw error;
    log.warn('leader.term-cut', { lock: name, reason: messageOf(error) });
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', end);
    // Whatever of the term outlives a `lead` that ended early ends before somebody else may lead.
    over.abort(new Failure('CANCELLED', 'the term is over'));
    if (term.lost.aborted) log.warn('leader.deposed', { lock: name, reason: messageOf(term.lost.reason) });
    await term.release();
    if (!term.lost.aborted) log.info('leader.stepped-down', { lock: name });
  }
}

async function pause(quiet: AbortSignal): Promise<void> {
  await delay(PAUSE_MS * (0.5 + Math.random()), undefined, { signal: quiet }).catch(() => undefined);
}

/**
 * Resolves when the lock is free, when nothing is heard of it for so long, or when we are to stop. Followed only while
 * we wait: whoever leads would hear of nothing but its own renewals.
 */
async function untilFree({ bucket, name, quiet }: LeaderOptions, silenceMs: number): Promise<void> {
  const enough = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let held = false;
    const hear = (): void => {
      clearTimeout(timer);
      timer = setTimeout(resolve, silenceMs);
    };
    hear();
    quiet.addEventListener('abort', () => resolve(), { signal: enough.signal });
    if (quiet.aborted) resolve();
    // Not awaited: without NATS there is no news, and the campaign itself says why.
    void bucket
      .watch(
        keys.lock(name),
        ({ entry }) => {
          held = entry !== undefined;
          if (held) hear();
          else resolve();
        },
        enough.signal,
      )
      // It may have come free before we began to listen; or it is a replica that does not know of it yet.
      .then(() => {
        if (held) return;
        clearTimeout(timer);
        timer = setTimeout(resolve, UNSEEN_MS);
      });
  });
  clearTimeout(timer);
  enough.abort();
}
