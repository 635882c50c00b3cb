/** The supervisor's line to the process that launched it: the plan comes in, progress and the outcome go out. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { LaunchMessage } from './messages.ts';
import { clusterPlan, type ClusterPlan } from './plan.ts';

export interface LauncherChannel {
  readonly plan: ClusterPlan;
  /** Sends, and waits until it is sent; a launcher that is gone hears nothing. */
  send(message: LaunchMessage): Promise<void>;
  /** Aborts when the launcher goes away before `close`. */
  readonly gone: AbortSignal;
  close(): void;
}

const PLAN_MAX_MS = 10_000;

export async function meetLauncher(): Promise<LauncherChannel> {
  if (!process.connected) {
    throw new Failure('INVALID', 'the supervisor is started by `trawl up`, not by hand', {
      hint: 'Run `trawl up`.',
    });
  }
  const gone = new AbortController();
  const onGone = (): void =>
    gone.abort(new Failure('CANCELLED', '`trawl up` was stopped before the cluster was up'));
  process.once('disconnect', onGone);
  return {
    plan: await receivePlan(gone.signal),
    send,
    gone: gone.signal,
    close() {
      process.removeListener('disconnect', onGone);
      if (process.connected) process.disconnect();
    },
  };
}

async function receivePlan(gone: AbortSignal): Promise<ClusterPlan> {
  const message = await new Promise<unknown>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Failure('TIMEOUT', 'no plan came from `trawl up`')),
      PLAN_MAX_MS,
    );
    gone.addEventListener('abort', () => reject(gone.reason as Error), { once: true });
    process.once('message', (received) => {
      clearTimeout(timer);
      resolve(received);
    });
    // A message that comes before somebody listens would be lost, so the launcher waits for this one.
    void send({ type: 'hello' });
  });
  const parsed = v.safeParse(clusterPlan, message);
  if (parsed.success) return parsed.output;
  throw new Failure('INTERNAL', `the plan of the cluster does not read: ${parsed.issues[0].message}`);
}

function send(message: LaunchMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || !process.send) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}
