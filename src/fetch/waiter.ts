/** A request that waits for its permit. It ends once: with an answer, or when nobody wants one any more. */
import type { RobotsAdvice } from '../wire/egress.ts';
import { wantKeyOf, type Denial, type Permit, type PermitRequest } from './permit.ts';

export interface Waiter {
  readonly request: PermitRequest;
  /** Requests of one key are served by the same leases. */
  readonly key: string;
  readonly since: number; // monotonic ms
  fresh: boolean;
  robots: RobotsAdvice | undefined;
  settle(answer: Permit | Denial): void;
}

export function waitIn(
  line: Set<Waiter>,
  request: PermitRequest,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Permit | Denial> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      line.delete(waiter);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(signal.reason as Error);
    };
    const waiter: Waiter = {
      request,
      key: wantKeyOf(request),
      since: now,
      fresh: request.fresh === true,
      robots: undefined,
      settle(answer) {
        end();
        resolve(answer);
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    line.add(waiter);
  });
}
