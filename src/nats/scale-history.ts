/** The decisions about the size of the cluster, read from the events. Direct reads: no consumer is made for them. */
import { createInbox } from '@nats-io/transport-node';
import { Failure } from '../domain/failure.ts';
import { decode } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

export interface ScaleEvent {
  readonly seq: number;
  readonly at: number; // epoch ms
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const LIMIT_MS = 5_000;
const PAGE = 256;
/** Two looks a minute for a week are fewer. */
const EVENTS_MAX = 25_000;
const NO_MORE = 204;
const NOTHING = 404;

/** Oldest first. */
export async function readScaleEvents(
  connection: Connection,
  names: Names,
  { since }: { since: number },
): Promise<ScaleEvent[]> {
  const events: ScaleEvent[] = [];
  let from: object = { start_time: new Date(since).toISOString() };
  while (events.length < EVENTS_MAX) {
    const page = await readPage(connection, names, from);
    const last = page.at(-1);
    if (!last) break;
    events.push(...page);
    from = { seq: last.seq + 1 };
  }
  return events;
}

function readPage({ nc }: Connection, names: Names, from: object): Promise<ScaleEvent[]> {
  const inbox = createInbox();
  const stream = names.stream('EVENTS');
  const found: ScaleEvent[] = [];
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
        else if (code === NO_MORE || code === NOTHING) end(() => resolve(found));
        else if (code !== 0)
          end(() => reject(new Failure('UNAVAILABLE', `the stream ${stream} answered ${code}`)));
        else found.push(...readEvent(Number(headers?.get('Nats-Sequence')), data));
      },
    });
    const timer = setTimeout(() => {
      end(() => reject(new Failure('TIMEOUT', `the stream ${stream} did not answer in ${LIMIT_MS} ms`)));
    }, LIMIT_MS);
    const query = { ...from, next_by_subj: names.event('scale', '*'), batch: PAGE };
    nc.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query), { reply: inbox });
  });
}

/** An event that does not read is none of ours. */
function readEvent(seq: number, data: Uint8Array): ScaleEvent[] {
  const body = decode(data);
  if (typeof body !== 'object' || body === null) return [];
  const { at, kind, ...facts } = body as Readonly<Record<string, unknown>>;
  return typeof at === 'number' && typeof kind === 'string' ? [{ seq, at, kind, facts }] : [];
}
