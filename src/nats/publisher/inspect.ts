/**
 * Nobody listens on a subject: is the stream gone, does it not take the subject, or has it no leader at the moment?
 * Only its definition tells, so the entries wait here until it has been read.
 */
import { JetStreamApiError } from '@nats-io/jetstream';
import type { Connection } from '../connect.ts';
import { REFUSED_NO_STREAM } from './answer.ts';
import type { Entry } from './entry.ts';
import type { Link } from './link.ts';
import { within } from './within.ts';

export interface InspectPorts {
  readonly connection: Connection;
  readonly stream: string;
  readonly link: Link;
  refuse(entry: Entry, code: number, reason: string): void;
  /** There is a stream for it: try again in a while. */
  later(entry: Entry): void;
}

/** A stream without a leader does not answer; ask again soon rather than wait for it. */
const ANSWER_MAX_MS = 1_000;

export function createInspect(ports: InspectPorts): (entry: Entry) => void {
  const { connection, stream } = ports;
  let parked: Entry[] = [];

  return (entry) => {
    parked.push(entry);
    if (parked.length === 1) ports.link.during(inspect());
  };

  async function inspect(): Promise<void> {
    const subjects = await readSubjects();
    const entries = parked;
    parked = [];
    for (const entry of entries) {
      if (subjects === 'unknown') ports.later(entry);
      else if (subjects === 'no stream') {
        ports.refuse(entry, REFUSED_NO_STREAM, `there is no stream ${stream}`);
      } else if (subjects.some((pattern) => matches(pattern, entry.message.subject))) ports.later(entry);
      else {
        const reason = `the stream ${stream} does not take the subject ${entry.message.subject}`;
        ports.refuse(entry, REFUSED_NO_STREAM, reason);
      }
    }
  }

  async function readSubjects(): Promise<readonly string[] | 'no stream' | 'unknown'> {
    try {
      return (await within(ANSWER_MAX_MS, connection.jsm.streams.info(stream))).config.subjects;
    } catch (error) {
      return error instanceof JetStreamApiError && error.code === REFUSED_NO_STREAM ? 'no stream' : 'unknown';
    }
  }
}

/** Whether a subject falls under a pattern with `*` and `>`. */
export function matches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.');
  const given = subject.split('.');
  for (const [position, token] of wanted.entries()) {
    if (token === '>') return given.length > position;
    if (token !== '*' && token !== given[position]) return false;
  }
  return wanted.length === given.length;
}
