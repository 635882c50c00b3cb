/**
 * Tasks that a flag holds back. Each is a schedule far away, on a subject of its own kind, so that those are found
 * without looking at what waits for its time. A task goes on when its schedule is replaced by one that is due.
 */
import type { TaskSpec } from '../domain/task.ts';
import type { Route } from '../wire/lanes.ts';
import type { Names } from '../wire/names.ts';
import { decodeTask } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import type { Outgoing, Publisher } from './publisher.ts';
import { publishAll } from './publisher/all.ts';
import { REFUSED_CONFLICT } from './publisher/answer.ts';
import { readPages } from './read-last.ts';

/** Longer than anything is held back; and if not, it is held back anew. */
const FAR_AWAY_MS = 10 * 365 * 24 * 3_600_000;
const LIMIT_MS = 10_000;

/** The headers of a schedule that makes the task ready at this time, or not until it is replaced. */
export function scheduleHeaders(target: string, atMs: number | 'parked'): Record<string, string> {
  const at = atMs === 'parked' ? Date.now() + FAR_AWAY_MS : atMs;
  return { 'Nats-Schedule': `@at ${new Date(at).toISOString()}`, 'Nats-Schedule-Target': target };
}

export interface Release {
  readonly released: number;
  /** What lies before this sequence has been looked at. */
  readonly nextSeq: number;
}

/**
 * Lets go on what was parked at `fromSeq` or later and is held back no longer. Of two who do it at once, one does; a
 * task that cannot be stored stays where it is.
 */
export async function releaseParked(
  connection: Connection,
  { names, publisher, route }: { names: Names; publisher: Publisher; route: Route },
  { fromSeq, isHeld, over }: { fromSeq: number; isHeld: (spec: TaskSpec) => boolean; over: AbortSignal },
): Promise<Release> {
  let released = 0;
  let nextSeq = fromSeq;
  let missed = Infinity;
  const query = {
    stream: names.stream('TASKS'),
    subject: names.parked({ run: '*', id: '*' }),
    limitMs: LIMIT_MS,
    fromSeq,
  };
  for await (const page of readPages(connection, query)) {
    if (over.aborted) break;
    const free = [...page.values()].flatMap(({ seq, data }) => {
      nextSeq = Math.max(nextSeq, seq + 1);
      const spec = readSpec(data);
      return !spec || isHeld(spec) ? [] : [releaseOf(names.parked(spec), { target: route(spec), data, seq })];
    });
    await publishAll(publisher, free, ({ expect }, outcome) => {
      if (outcome.kind === 'stored') released += 1;
      // Somebody else lets it go on, or it did.
      else if (outcome.kind !== 'refused' || outcome.code !== REFUSED_CONFLICT)
        missed = Math.min(missed, expect);
    });
  }
  return { released, nextSeq: Math.min(nextSeq, missed) };
}

/** What is no task stays: nobody knows where it belongs. */
function readSpec(data: Uint8Array): TaskSpec | undefined {
  try {
    return decodeTask(data).spec;
  } catch {
    return undefined;
  }
}

function releaseOf(
  subject: string,
  { target, data, seq }: { target: string; data: Uint8Array; seq: number },
): Outgoing & { readonly expect: number } {
  return {
    subject,
    payload: data,
    headers: scheduleHeaders(target, Date.now()),
    expect: seq,
    repeatable: true,
  };
}
