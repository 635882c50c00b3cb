/** One health probe: the configured page, asked for through the proxy. */
import { messageOf } from '../domain/failure.ts';
import { hideUrlSecrets } from '../domain/secret.ts';
import type { HttpEngine } from '../http/engine.ts';
import type { ProbeResult, ProxyRecord } from '../policy/egress/records.ts';

export interface ProbeOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly status: number;
}

const BODY_MAX_BYTES = 256 * 1024;
const ERROR_MAX_CHARACTERS = 200;

/** Never throws: what is no answer is a probe that failed. */
export async function probeProxy(
  engine: Pick<HttpEngine, 'send'>,
  { id, address }: Pick<ProxyRecord, 'id' | 'address'>,
  { url, timeoutMs, status, signal }: ProbeOptions & { readonly signal: AbortSignal },
): Promise<ProbeResult> {
  const began = performance.now();
  const lastCheck = Date.now();
  const taken = (): number => Math.round(performance.now() - began);
  try {
    const answer = await engine.send(
      {
        url: new URL(url),
        method: 'GET',
        headers: [
          ['accept', '*/*'],
          ['user-agent', 'trawl'],
        ],
        egress: { id, address },
        timeouts: { connectMs: timeoutMs, headersMs: timeoutMs, bodyMs: timeoutMs, totalMs: timeoutMs },
        maxBytes: BODY_MAX_BYTES,
        http2: false,
      },
      signal,
    );
    const isHealthy = answer.status === status;
    const error = isHealthy ? {} : { error: `the answer was ${answer.status} instead of ${status}` };
    return { lastCheck, isHealthy, responseMs: taken(), statusCode: answer.status, ...error };
  } catch (error) {
    const reason = hideUrlSecrets(messageOf(error)).slice(0, ERROR_MAX_CHARACTERS);
    return { lastCheck, isHealthy: false, responseMs: taken(), error: reason };
  }
}
