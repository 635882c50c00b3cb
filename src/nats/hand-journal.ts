/**
 * What was delivered to one worker, noted on its machine as it comes. When the process is killed, the one that follows it
 * there under its name gives back at once what it had in hand, begun or not, instead of after the lease. Two files take
 * turns; what is older than both is long under way, and the cluster knows of it (see in-hand.ts).
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../telemetry/log.ts';
import type { Connection } from './connect.ts';

export interface HandJournal {
  note(reply: string): void;
  /** All is settled or given back: nothing is left to do for anybody. */
  close(): void;
}

export interface JournalOptions {
  readonly path: string;
  /** What was delivered longer ago may be somebody else's by now. */
  readonly leaseMs: number;
  readonly log: Log;
  readonly now?: () => number; // epoch ms
}

/** Deliveries in one file. */
const NOTES_MAX = 20_000;
/** The two clocks may differ by the time that a message travels. */
const TRUSTED_PART = 0.9;
const GIVE_BACK = new TextEncoder().encode('-NAK');

/** Gives back what an earlier life has left, and begins anew. To give back what is settled already has no effect. */
export function openHandJournal(
  { nc }: Pick<Connection, 'nc'>,
  { path, leaseMs, log, now = Date.now }: JournalOptions,
): HandJournal & { readonly givenBack: number } {
  const paths = [`${path}.0`, `${path}.1`] as const;
  mkdirSync(dirname(path), { recursive: true });
  const left = paths.flatMap(readNotes).filter(({ at }) => now() - at < leaseMs * TRUSTED_PART);
  for (const { reply } of left) nc.publish(reply, GIVE_BACK);
  for (const each of paths) rmSync(each, { force: true });

  let turn = 0;
  let noted = 0;
  let file: number | undefined = openSync(paths[0], 'w', 0o600);
  let pending: string[] = [];

  return {
    givenBack: left.length,
    note(reply) {
      if (pending.length === 0) setImmediate(write);
      pending.push(`${now()} ${reply}\n`);
    },
    close() {
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
      for (const each of paths) rmSync(each, { force: true });
    },
  };

  /** A disk that is full is no reason to work less: then the tasks come back by their lease, as anywhere else. */
  function write(): void {
    const notes = pending;
    pending = [];
    if (file === undefined) return;
    try {
      append(file, notes);
    } catch (error) {
      log.warn('hand.unnoted', { path, reason: error });
      closeSync(file);
      file = undefined;
    }
  }

  /** Without a sync: it must outlive the process, not the machine. */
  function append(to: number, notes: readonly string[]): void {
    writeSync(to, notes.join(''));
    noted += notes.length;
    if (noted < NOTES_MAX) return;
    const next = openSync(paths[1 - turn] ?? paths[0], 'w', 0o600);
    closeSync(to);
    file = next;
    noted = 0;
    turn = 1 - turn;
  }
}

/** A line that was cut off in the middle is no note. */
function readNotes(path: string): { readonly at: number; readonly reply: string }[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => ({ at: Number(line.split(' ')[0]), reply: line.split(' ')[1] ?? '' }))
      .filter(({ at, reply }) => at > 0 && reply.startsWith('$JS.ACK.'));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return [];
    throw error;
  }
}
