/**
 * Runs `use` with a signal that aborts at the deadline or with its parent, whichever comes first.
 * Links and unlinks by hand: `AbortSignal.any` on a long-lived signal keeps its dependants (nodejs/node#54614).
 */
import { Failure } from '../domain/failure.ts';

export async function withDeadline<T>(
  parent: AbortSignal,
  limitMs: number,
  use: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  parent.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => {
    controller.abort(new Failure('TIMEOUT', `not done within ${limitMs} ms`));
  }, limitMs);
  try {
    return await use(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', follow);
  }
}
