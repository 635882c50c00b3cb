/** A worker's side of the talk with the proxy-manager: two questions, and the news for everybody. */
import type { AcquireReply, AcquireRequest, EgressReport, ReportReply } from '../wire/egress.ts';
import { decode, encode } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';

export interface EgressClient {
  /** Undefined: nobody has answered in time, or not in words that can be read. */
  acquire(request: AcquireRequest): Promise<AcquireReply | undefined>;
  report(report: EgressReport): Promise<ReportReply | undefined>;
  /** Calls back with each; returns the undo. */
  onNews(listener: (news: ReportReply) => void): () => void;
}

/** A manager that is alive answers within milliseconds; one that has died is followed by another within seconds. */
const LIMIT_MS = 2_000;

export function createEgressClient(connection: Connection, names: Names): EgressClient {
  return {
    acquire: (request) => say('acquire', request, readAcquireReply),
    report: (report) => say('report', report, readReportReply),
    onNews(listener) {
      const subscription = connection.nc.subscribe(names.broadcast('egress'), {
        callback: (error, message) => {
          const news = error ? undefined : read(message.data, readReportReply);
          if (news) listener(news);
        },
      });
      return () => subscription.unsubscribe();
    },
  };

  async function say<T>(
    verb: string,
    body: object,
    readReply: (value: unknown) => T | undefined,
  ): Promise<T | undefined> {
    const answer = await ask(connection, {
      subject: names.egress(verb),
      payload: encode(body),
      limitMs: LIMIT_MS,
    });
    return answer.kind === 'reply' ? read(answer.message.data, readReply) : undefined;
  }
}

function read<T>(data: Uint8Array, readReply: (value: unknown) => T | undefined): T | undefined {
  try {
    return readReply(decode(data));
  } catch {
    return undefined;
  }
}

/** The shape alone: both sides are of one build, and a manager that refuses answers with something else. */
function readAcquireReply(value: unknown): AcquireReply | undefined {
  return Array.isArray(fieldsOf(value)['answers']) ? (value as AcquireReply) : undefined;
}

function readReportReply(value: unknown): ReportReply | undefined {
  const { ended, closed } = fieldsOf(value);
  return Array.isArray(ended) && Array.isArray(closed) ? (value as ReportReply) : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
