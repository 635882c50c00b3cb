/**
 * Which members of a refused batch expect a sequence that their subject does not have. One request reads the last
 * message of all their subjects. A hint only: a replica may answer, and large messages may cut the answer short;
 * so a suspect is still sent, by itself, and the server decides.
 */
import type { Connection } from '../connect.ts';
import type { Entry } from './entry.ts';

const ANSWER_MAX_BYTES = 1024 * 1024;
const ANSWER_MAX_MS = 2_000;

export async function findSuspects(
  connection: Connection,
  stream: string,
  entries: readonly Entry[],
): Promise<ReadonlySet<number>> {
  const guarded = [...entries.entries()].filter(([, { message }]) => message.expect !== undefined);
  const suspects = new Set<number>();
  if (guarded.length === 0) return suspects;
  const lastBySubject = await readLast(
    connection,
    stream,
    guarded.map(([, { message }]) => message.subject),
  );
  if (lastBySubject === undefined) return suspects;
  for (const [position, { message }] of guarded) {
    if ((lastBySubject.get(message.subject) ?? 0) !== message.expect) suspects.add(position);
  }
  return suspects;
}

async function readLast(
  { nc, js }: Connection,
  stream: string,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, number> | undefined> {
  const last = new Map<string, number>();
  const request = JSON.stringify({ multi_last: subjects, max_bytes: ANSWER_MAX_BYTES });
  try {
    const answers = await nc.requestMany(`${js.apiPrefix}.DIRECT.GET.${stream}`, request, {
      strategy: 'sentinel', // the server ends its answer with an empty message
      maxWait: ANSWER_MAX_MS,
    });
    for await (const { headers } of answers) {
      const subject = headers?.get('Nats-Subject') ?? '';
      if (subject !== '') last.set(subject, Number(headers?.get('Nats-Sequence')));
    }
    return last;
  } catch {
    return undefined; // no direct reads on this stream, or no connection: then halves will do
  }
}
