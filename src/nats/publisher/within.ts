/** A request that was under way when the connection broke is never answered: do not wait for the client's timeout. */
import { Failure } from '../../domain/failure.ts';

export async function within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Failure('TIMEOUT', `no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
