/**
 * Finds out what became of compare-and-set messages in doubt, by reading their subjects from the stream's leader
 * (a direct get may be answered by a replica that lags behind).
 */
import type { StoredMsg } from '@nats-io/jetstream';
import { decideRecheck, type FoundMessage, type Verdict } from '../../policy/recheck.ts';
import type { Connection } from '../connect.ts';
import { EXPECT_HEADER, EXPECT_SUBJECT_HEADER, type Entry } from './entry.ts';
import type { Link } from './link.ts';
import { within } from './within.ts';

export interface Recheck {
  add(entry: Entry): void;
  /** The link is open: go on. */
  pump(): void;
}

export interface RecheckPorts {
  readonly connection: Connection;
  readonly stream: string;
  readonly link: Link;
  readonly ackTimeoutMs: number;
  /** The stream drops messages once they are consumed. */
  readonly mayVanish: boolean;
  onVerdict(entry: Entry, verdict: Verdict): void;
}

const READS_MAX = 32;

export function createRecheck(ports: RecheckPorts): Recheck {
  const { connection, stream, link } = ports;
  const queue: Entry[] = [];
  let reads = 0;

  return {
    add(entry) {
      queue.push(entry);
      pump();
    },
    pump,
  };

  function pump(): void {
    while (reads < READS_MAX && link.isOpen()) {
      const entry = queue.shift();
      if (entry === undefined) return;
      if (entry.done) continue;
      reads += 1;
      void check(entry).finally(() => {
        reads -= 1;
        pump();
      });
    }
  }

  async function check(entry: Entry): Promise<void> {
    const { expect = 0, repeatable = false } = entry.message;
    let found: FoundMessage | undefined;
    try {
      found = await look(entry, expect);
    } catch {
      // No leader, no connection, no answer: the question stays open.
      link.holdOff();
      queue.push(entry);
      return;
    }
    const facts = { expect, repeatable, mayVanish: ports.mayVanish, refused: entry.refused, found };
    ports.onVerdict(entry, decideRecheck(facts));
  }

  async function look(entry: Entry, expect: number): Promise<FoundMessage | undefined> {
    const { subject } = entry.message;
    const last = describe(await read({ last_by_subj: subject }), entry);
    if (last === undefined || last.seq <= expect || last.ours || last.expected === expect) return last;
    // The subject has moved on. Where the stream keeps a history, the one right after `expect` tells.
    return describe(await read({ seq: expect + 1, next_by_subj: subject }), entry) ?? last;
  }

  function read(
    query: { last_by_subj: string } | { seq: number; next_by_subj: string },
  ): Promise<StoredMsg | null> {
    return within(ports.ackTimeoutMs, connection.jsm.streams.getMessage(stream, query));
  }
}

function describe(stored: StoredMsg | null, { message }: Entry): FoundMessage | undefined {
  if (stored === null) return undefined;
  const expectedText = stored.header.has(EXPECT_SUBJECT_HEADER) ? '' : stored.header.get(EXPECT_HEADER);
  const expected = expectedText === '' ? undefined : Number(expectedText);
  const headers = Object.entries(message.headers ?? {});
  const ours =
    expected === message.expect &&
    headers.every(([name, value]) => stored.header.get(name) === value.trim()) &&
    Buffer.compare(stored.data, message.payload) === 0;
  return { seq: stored.seq, ours, expected };
}
