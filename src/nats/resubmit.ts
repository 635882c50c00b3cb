/**
 * Puts into the intake what the coordinator itself submits: tasks that named another run than their subject, and tasks
 * that came as a request. The message ids only keep the counts of duplicates right when a death repeats one within
 * two minutes; nothing else rests on them.
 */
import { headers as createHeaders, type MsgHdrs } from '@nats-io/nats-core';
import type { JsMsg } from '@nats-io/jetstream';
import { Failure, messageOf } from '../domain/failure.ts';
import type { PageBudget } from '../domain/task.ts';
import { encode } from '../wire/codec.ts';
import type { ForwardTo } from '../wire/intake.ts';
import type { Names } from '../wire/names.ts';
import { formatBudget } from '../wire/submission-fields.ts';
import { BUDGET_HEADER, DEPTH_HEADER, PARENT_HEADER } from '../wire/submission.ts';
import type { ParsedRequest } from '../wire/submission-task.ts';
import type { Connection } from './connect.ts';
import { AT_HEADER } from './intake-message.ts';

export interface Resubmit {
  /** The message as it is, under the subject of a run. */
  whole(message: JsMsg, run: string): Promise<void>;
  /** Tasks of one message, under the subject of their run. */
  tasks(tasks: readonly ParsedRequest[], to: ForwardTo): Promise<void>;
  /** New tasks, submitted at a time that their records will have; the sequence of their message. */
  fresh(tasks: readonly ParsedRequest[], to: { scraper: string; run?: string; at: number }): Promise<number>;
}

/** What subject and headers add to the payload. */
const FRAME_BYTES = 2_048;

export function createResubmit({ js, nc }: Connection, names: Names): Resubmit {
  return {
    async whole(message, run) {
      const copy = createHeaders();
      for (const [name, values] of message.headers ?? [])
        if (!name.startsWith('Nats-')) for (const value of values) copy.append(name, value);
      const [, , scraper = ''] = message.subject.split('.');
      const msgID = `${message.info.streamSequence} ${run}`;
      await store(names.submit(scraper, run), message.data, { headers: copy, msgID });
    },
    async tasks(tasks, { scraper, run, seq, budget }) {
      const subject = names.submit(scraper, run);
      let part = 0;
      const headers = originOf(tasks[0], budget);
      for (const payload of pack(tasks))
        await store(subject, payload, { headers, msgID: `${seq} ${run} ${part++}` });
    },
    async fresh(tasks, { scraper, run, at }) {
      const headers = createHeaders();
      headers.set(AT_HEADER, String(at));
      return store(names.submit(scraper, run), encode(tasks.map(submittedOf)), { headers });
    },
  };

  /** Smaller messages, where the fields that were headers make one too large. */
  function* pack(tasks: readonly ParsedRequest[]): Generator<Uint8Array> {
    const payload = encode(tasks.map(submittedOf));
    if (tasks.length === 1 || payload.length + FRAME_BYTES <= (nc.info?.max_payload ?? Infinity)) {
      yield payload;
      return;
    }
    const half = Math.ceil(tasks.length / 2);
    yield* pack(tasks.slice(0, half));
    yield* pack(tasks.slice(half));
  }

  async function store(
    subject: string,
    payload: Uint8Array,
    options: Parameters<typeof js.publish>[2],
  ): Promise<number> {
    try {
      return (await js.publish(subject, payload, options)).seq;
    } catch (cause) {
      throw new Failure('UNAVAILABLE', `the intake did not take a message: ${messageOf(cause)}`, {
        cause,
        hint: 'If the intake is full, wait until its runs have gone on.',
      });
    }
  }
}

/** All tasks of one message have the same. */
function originOf(task: ParsedRequest | undefined, budget: PageBudget | undefined): MsgHdrs {
  const headers = createHeaders();
  if (task?.depth !== undefined) headers.set(DEPTH_HEADER, String(task.depth));
  if (task?.parent !== undefined) headers.set(PARENT_HEADER, task.parent);
  if (budget !== undefined) headers.set(BUDGET_HEADER, formatBudget(budget));
  return headers;
}

/** The fields of a task as a submitter writes them. */
function submittedOf({ url, key, input, priority, notBefore }: ParsedRequest): object {
  return {
    ...(url !== undefined && { url }),
    ...(key !== undefined && { key }),
    ...(input !== undefined && { input }),
    priority,
    ...(notBefore !== undefined && { notBefore }),
  };
}
