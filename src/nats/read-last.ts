/** The last message of many subjects of a stream, in one request. What is not there is not in the answer. */
import { createInbox } from '@nats-io/transport-node';
import { Failure } from '../domain/failure.ts';
import type { Connection } from './connect.ts';

export interface Last {
  readonly seq: number;
  readonly data: Uint8Array;
}

export interface ReadLastOptions {
  readonly stream: string;
  /** Whole subjects, or patterns; the server takes no more than 1,024 of the former, and matches of the latter. */
  readonly subjects: readonly string[];
  readonly limitMs?: number;
}

const LIMIT_MS = 5_000;
const NO_MORE = 204;
const NOTHING = 404;
const TOO_MANY = 413;
const PAGE = 500;

/**
 * Any replica may answer, so on a cluster the answer may be a moment old: good for a look, not for a decision that only
 * a compare-and-set may take.
 */
export async function readLast(connection: Connection, options: ReadLastOptions): Promise<Map<string, Last>> {
  const { stream, subjects, limitMs = LIMIT_MS } = options;
  const found = new Map<string, Last>();
  if (subjects.length === 0) return found;
  const code = await directGet(
    connection,
    { stream, limitMs, query: { multi_last: subjects, batch: 1_024 } },
    found,
  );
  if (code === TOO_MANY) {
    for (const subject of subjects) {
      for await (const page of readPages(connection, { stream, limitMs, subject })) {
        for (const [name, last] of page) found.set(name, last);
      }
    }
  }
  return found;
}

/**
 * The messages of a pattern in the order of the stream, page by page: for more matches than one request may have.
 * One that is replaced meanwhile comes again.
 */
export async function* readPages(
  connection: Connection,
  {
    stream,
    limitMs,
    subject,
    fromSeq = 1,
  }: { stream: string; limitMs: number; subject: string; fromSeq?: number },
): AsyncGenerator<ReadonlyMap<string, Last>> {
  for (let seq = fromSeq; ;) {
    const page = new Map<string, Last>();
    await directGet(
      connection,
      { stream, limitMs, query: { seq, next_by_subj: subject, batch: PAGE } },
      page,
    );
    if (page.size === 0) return;
    for (const last of page.values()) seq = Math.max(seq, last.seq + 1);
    yield page;
  }
}

/** Adds the messages that the server sends to `found`; the code with which it ended. */
function directGet(
  { nc }: Connection,
  { stream, limitMs, query }: { stream: string; limitMs: number; query: object },
  found: Map<string, Last>,
): Promise<number> {
  const inbox = createInbox();
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      subscription.unsubscribe();
      settle();
    };
    const subscription = nc.subscribe(inbox, {
      callback: (error, { headers, data }) => {
        const code = headers?.code ?? 0;
        if (error) end(() => reject(new Failure('UNAVAILABLE', error.message, { cause: error })));
        else if (code === NO_MORE || code === NOTHING || code === TOO_MANY) end(() => resolve(code));
        else if (code !== 0)
          end(() => reject(new Failure('UNAVAILABLE', `the stream ${stream} answered ${code}`)));
        else
          found.set(headers?.get('Nats-Subject') ?? '', { seq: Number(headers?.get('Nats-Sequence')), data });
      },
    });
    const timer = setTimeout(() => {
      end(() => reject(new Failure('TIMEOUT', `the stream ${stream} did not answer in ${limitMs} ms`)));
    }, limitMs);
    nc.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query), { reply: inbox });
  });
}
