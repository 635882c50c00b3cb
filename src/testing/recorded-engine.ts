/** An engine that keeps a record of what it sent. */
import { asFailure } from '../domain/failure.ts';
import type { HttpEngine } from '../http/engine.ts';
import type { Clock } from '../runtime/clock.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The way it went: `direct`, or the id of a proxy. */
  readonly egress: string;
  /** When it was sent, in milliseconds of the clock. */
  readonly atMs: number;
  readonly ms: number;
  /** Absent where there was no answer: then there is an error. */
  readonly status?: number;
  readonly firstByteMs?: number;
  readonly bytes?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** In the order in which they ended. */
export function recordRequests(
  engine: HttpEngine,
  clock: Pick<Clock, 'now'>,
): { readonly engine: HttpEngine; readonly requests: readonly SeenRequest[] } {
  const requests: SeenRequest[] = [];
  return {
    requests,
    engine: {
      ...engine,
      async send(request, signal) {
        const atMs = clock.now();
        const common = {
          method: request.method,
          url: request.url.href,
          headers: Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value])),
          ...(request.body !== undefined && { body: Buffer.from(request.body).toString() }),
          egress: request.egress.id,
          atMs,
        };
        try {
          const answer = await engine.send(request, signal);
          const { firstByteMs, totalMs } = answer.timing;
          const { status, bytesReceived: bytes } = answer;
          requests.push({ ...common, ms: totalMs, firstByteMs, status, bytes });
          return answer;
        } catch (error) {
          const { code, message } = asFailure(error);
          requests.push({ ...common, ms: clock.now() - atMs, error: { code, message } });
          throw error;
        }
      },
    },
  };
}
