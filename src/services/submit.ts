/**
 * `submit`: tasks as a request, answered with their ids and whether they were known.
 *
 * The tasks go into the intake first, so that nothing that happens to this coordinator can lose them, and are then
 * accepted here under the sequence of that message. Whoever takes the message in finds them accepted by it, and puts
 * them into the queue when their run's turn has come. The answer is the ledger's, so of two equal requests exactly
 * one is told that its task is new.
 */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { defaultRunId, isRunId } from '../domain/run-id.ts';
import type { Verb } from '../nats/mailbox.ts';
import { encodeJson } from '../wire/codec.ts';
import type { RunRecord } from '../wire/run-record.ts';
import type { SubmissionLimits } from '../wire/submission-fields.ts';
import { DROP_TRACKING_HEADER, parseSubmission } from '../wire/submission.ts';
import type { ParsedRequest } from '../wire/submission-task.ts';
import { readRequest } from './read-request.ts';

export interface SubmitPorts {
  /** The run, made if nobody knows it. */
  readonly ensureRun: (draft: { id: string; scraper: string; standing: boolean }) => Promise<RunRecord>;
  /** Puts the tasks into the intake; the sequence of their message. */
  readonly publish: (
    tasks: readonly ParsedRequest[],
    to: { scraper: string; run?: string; at: number },
  ) => Promise<number>;
  /** Accepts the tasks of that message; the ids of those that were known before. */
  readonly accept: (
    tasks: readonly ParsedRequest[],
    origin: { run: string; seq: number; at: number },
  ) => Promise<ReadonlySet<string>>;
  /** What is wrong with the input of a task; undefined: nothing, or nobody here knows. */
  readonly checkInput?:
    ((scraper: string, input: unknown) => Promise<string | undefined> | undefined) | undefined;
  /** Hears of tasks that were refused. */
  readonly refused?: ((tasks: number) => void) | undefined;
  readonly limits: SubmissionLimits;
  readonly now: () => number; // epoch ms
}

interface Read {
  readonly requests: readonly ParsedRequest[];
  readonly problems: readonly { readonly index: number; readonly reason: string }[];
}

const name = v.pipe(v.string(), v.check(isRunId, 'must be 1 to 64 letters, digits, _ or -'));
const envelope = v.looseObject({
  scraper: name,
  run: v.nullish(name),
  priority: v.nullish(v.number()),
  dropTracking: v.nullish(v.boolean()),
  tasks: v.exactOptional(v.pipe(v.array(v.unknown()), v.minLength(1, 'is empty'))),
});
const ENDED = new Set<RunRecord['state']>(['done', 'done_with_errors', 'cancelled']);

export function createSubmitServices(ports: SubmitPorts): Record<string, Verb> {
  const { limits, now } = ports;
  return {
    async submit(body) {
      const { scraper, run: named, priority, dropTracking, tasks, ...rest } = readRequest(envelope, body);
      const run = named ?? defaultRunId(scraper);
      const members = tasks ?? [rest];
      if (members.length > limits.tasksMax)
        throw new Failure('INVALID', `${members.length} tasks in one request: at most ${limits.tasksMax}`);
      const headers = new Map<string, string>();
      if (typeof priority === 'number') headers.set('Trawl-Priority', String(priority));
      if (dropTracking === true) headers.set(DROP_TRACKING_HEADER, 'true');
      const { requests, problems } = await read(members, { scraper, run, headers });
      if (problems.length > 0) ports.refused?.(problems.length);
      const [problem] = problems;
      if (!tasks && problem) throw new Failure('INVALID', problem.reason);
      const answers =
        requests.length === 0 ? [] : await take(requests, { scraper, run, named: named ?? undefined });
      return { run, tasks: answers, problems, ...(!tasks && answers[0]) };
    },
  };

  async function read(
    members: readonly unknown[],
    { scraper, run, headers }: { scraper: string; run: string; headers: ReadonlyMap<string, string> },
  ): Promise<Read> {
    const requests: ParsedRequest[] = [];
    const problems: Read['problems'][number][] = [];
    for (const [index, member] of members.entries()) {
      // One by one, so that each has its own answer, also the second of two equal ones.
      const parsed = parseSubmission({
        subject: { scraper, run },
        headers: (field) => headers.get(field),
        data: encodeJson([member]),
        now: now(),
        limits,
      });
      for (const { reason } of parsed.problems) problems.push({ index, reason });
      for (const request of parsed.requests) {
        const reason = await ports.checkInput?.(scraper, request.input);
        if (reason === undefined) requests.push(request);
        else problems.push({ index, reason });
      }
    }
    return { requests, problems };
  }

  async function take(
    requests: readonly ParsedRequest[],
    { scraper, run, named }: { scraper: string; run: string; named: string | undefined },
  ): Promise<{ id: string; duplicate: boolean }[]> {
    const { state } = await ports.ensureRun({ id: run, scraper, standing: run === defaultRunId(scraper) });
    if (ENDED.has(state))
      throw new Failure('CONFLICT', `run ${run} has ended`, { hint: 'Submit to another run.' });
    const at = now();
    const seq = await ports.publish(requests, { scraper, at, ...(named !== undefined && { run: named }) });
    const unique = new Map(requests.map((request) => [request.id, request]));
    const known = await ports.accept([...unique.values()], { run, seq, at });
    const told = new Set(known);
    return requests.map(({ id }) => {
      const duplicate = told.has(id);
      told.add(id);
      return { id, duplicate };
    });
  }
}
