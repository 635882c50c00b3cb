/** Waits for a nats-server to serve. Its monitoring port says so, and sends no event: a poll, bounded by the signal. */
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** `server`: JetStream of this server runs. `meta`: the servers also agreed on a leader. */
export type HealthScope = 'server' | 'meta';

const POLL_MS = { server: 20, meta: 100 } as const; // every failed answer about the leader is a line in the server's log
const ANSWER_MAX_MS = 1_000;

/** Resolves when the server is healthy; rejects with the signal's reason when that aborts. */
export async function untilHealthy(
  monitorPort: number,
  scope: HealthScope,
  signal: AbortSignal,
): Promise<void> {
  const path = `/healthz?js-${scope}-only=true`;
  while (!(await isHealthy(monitorPort, path))) {
    signal.throwIfAborted();
    await delay(POLL_MS[scope]);
  }
}

function isHealthy(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      { host: '127.0.0.1', port, path, timeout: ANSWER_MAX_MS, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
