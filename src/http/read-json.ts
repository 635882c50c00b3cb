/** One small JSON document from a server of ours. */
import { request } from 'undici';
import { Failure, messageOf } from '../domain/failure.ts';

export async function readJson(url: string, limits: { timeoutMs: number }): Promise<unknown> {
  try {
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(limits.timeoutMs) });
    if (statusCode === 200) return await body.json();
    await body.dump();
    throw new Failure('REJECTED', `${url} answered with status ${statusCode}`);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('NETWORK', `${url} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
