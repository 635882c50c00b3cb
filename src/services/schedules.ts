/** Recurring submissions: made, replaced, removed, paused, fired by hand, and shown with the times to come. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { asFailure, Failure } from '../domain/failure.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { Schedules, StoredSchedule } from '../nats/schedules.ts';
import { decideDue, runOf } from '../policy/schedule-due.ts';
import { tasksOf } from '../policy/schedule-run.ts';
import { parseSchedule, type ScheduleSpec } from '../policy/schedule-spec.ts';
import { encode } from '../wire/codec.ts';
import { encodeSchedule, type ScheduleRecord } from '../wire/schedule-record.ts';
import { SUBMISSION_LIMITS } from '../wire/submission-fields.ts';
import { parseSubmission } from '../wire/submission.ts';
import { readRequest } from './read-request.ts';
import { showSchedule, showStored } from './show-schedule.ts';

export interface SchedulePorts {
  readonly schedules: Schedules;
  readonly loop: {
    /** Carries out what is noted in a schedule's record. */
    complete(name: string): Promise<void>;
    /** One more run; its name. */
    fireByHand(name: string): Promise<string>;
    /** Its runs that have not ended. */
    openRunsOf(name: string): Promise<readonly string[]>;
  };
  /** What one message may hold. */
  readonly messageMaxBytes: () => number;
  readonly now: () => number; // epoch ms
}

const request = v.object({ name: v.string() });
const definitionRequest = v.record(v.string(), v.unknown());
const applyRequest = v.object({ schedule: definitionRequest, dryRun: v.optional(v.boolean(), false) });
const TRIES = 20;
/** What subject and headers add to a message. */
const FRAME_BYTES = 2_048;

export function createScheduleServices(ports: SchedulePorts): Record<string, Verb> {
  const { schedules, loop, now } = ports;
  return {
    'schedule.add': (body) => add(readRequest(definitionRequest, body)),
    'schedule.apply': (body) => apply(readRequest(applyRequest, body)),
    'schedule.remove': async (body) => {
      const { name } = readRequest(request, body);
      if (!(await schedules.remove(name))) throw notThere(name);
      return { name, removed: true };
    },
    'schedule.list': async () => ({
      schedules: (await schedules.list()).map((stored) => showStored(stored, now())),
    }),
    'schedule.now': async (body) => {
      const { name } = readRequest(request, body);
      return { name, run: await loop.fireByHand(name) };
    },
    'schedule.pause': async (body) => {
      const { name } = readRequest(request, body);
      const { record } = await change(name, (known) => ({ ...existing(name, known), paused: true }));
      await schedules.unplan(name);
      return showSchedule(specOf(record.definition), record, now());
    },
    'schedule.resume': async (body) => {
      const { name } = readRequest(request, body);
      const at = now();
      const { before, record } = await change(name, (known) => {
        const found = existing(name, known);
        // What passed in the meantime was to be left out; a schedule that was on keeps its times.
        return found.paused ? { ...found, paused: false, since: secondOf(at) } : found;
      });
      if (before?.ok && before.record.paused)
        await schedules.plan(specOf(record.definition), record.definition);
      return showSchedule(specOf(record.definition), record, now());
    },
  };

  /** Makes it so, however often it is asked for: one that is so already goes on as if nobody had asked. */
  async function apply({ schedule, dryRun }: v.InferOutput<typeof applyRequest>): Promise<object> {
    const spec = specOf(schedule);
    const known = await schedules.get(spec.name);
    if (known?.ok && isDeepStrictEqual(known.record.definition, schedule))
      return { ...showSchedule(spec, known.record, now()), change: 'unchanged' };
    const change = known ? 'updated' : 'created';
    if (dryRun) return { name: spec.name, scraper: spec.scraper, change };
    // Whoever changes a schedule did not ask for a run, and does not end a pause that the file does not speak of.
    const options = known ? { now: false, keepPause: !('paused' in schedule) } : {};
    return { ...(await add(schedule, options)), change };
  }

  async function add(
    definition: ScheduleRecord['definition'],
    options: { readonly now?: boolean; readonly keepPause?: boolean } = {},
  ): Promise<object> {
    const spec = specOf(definition);
    const { name } = spec;
    const firing = options.now === false ? undefined : await firstRun(spec);
    const at = now();
    const { record } = await change(name, (known) => ({
      definition,
      createdAt: known?.ok ? known.record.createdAt : at,
      since: secondOf(at),
      paused: options.keepPause === true && known?.ok ? known.record.paused : spec.paused,
      ...(firing && { firing }),
    }));
    if (record.paused) await schedules.unplan(name);
    else await schedules.plan(spec, definition);
    if (firing) await loop.complete(name);
    return { ...showSchedule(specOf(record.definition), record, now()), ...(firing && { run: firing.run }) };
  }

  async function firstRun(spec: ScheduleSpec): Promise<ScheduleRecord['firing']> {
    if (!spec.now) return undefined;
    const at = now();
    const runsOpen = await loop.openRunsOf(spec.name);
    const decision = decideDue({ spec, dueAt: secondOf(at), lastDueAt: undefined, now: at, runsOpen });
    if (decision.action === 'skip') return undefined;
    // Somebody waits for the first run: no stagger, no jitter.
    return { dueAt: decision.dueAt, run: decision.run, startAt: at, reason: 'first' };
  }

  /** Compare-and-set, again when somebody was faster. */
  async function change(
    name: string,
    next: (known: StoredSchedule | undefined) => ScheduleRecord,
  ): Promise<{ before: StoredSchedule | undefined; record: ScheduleRecord }> {
    for (let left = TRIES; ; left -= 1) {
      const known = await schedules.get(name);
      const record = next(known);
      checkSize(encodeSchedule(record));
      try {
        await schedules.store(name, record, known?.revision ?? 0);
        return { before: known, record };
      } catch (error) {
        if (asFailure(error).code !== 'CONFLICT' || left === 1) throw error;
      }
    }
  }

  function specOf(definition: unknown): ScheduleSpec {
    const parsed = parseSchedule(definition, now());
    if (!parsed.ok)
      throw new Failure('INVALID', `the schedule has problems: ${parsed.problems.join('; ')}`, {
        hint: '`trawl schedule --help` shows how.',
      });
    checkTasks(parsed.spec);
    return parsed.spec;
  }

  /** What would be refused each time it is due is better refused now. */
  function checkTasks(spec: ScheduleSpec): void {
    const run = runOf(spec.name, now());
    const data = encode(tasksOf(spec, run));
    checkSize(data);
    const subject = { scraper: spec.scraper, run };
    const headers = (): undefined => undefined;
    const [problem] = parseSubmission({
      subject,
      headers,
      data,
      now: now(),
      limits: SUBMISSION_LIMITS,
    }).problems;
    if (problem) throw new Failure('INVALID', `the schedule cannot be submitted: ${problem.reason}`);
  }

  function checkSize({ length }: Uint8Array): void {
    const max = ports.messageMaxBytes() - FRAME_BYTES;
    if (length > max)
      throw new Failure('INVALID', `the tasks of the schedule have ${length} bytes: at most ${max}`, {
        hint: 'Make several schedules of it, or let the scraper find its pages.',
      });
  }
}

function secondOf(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

function existing(name: string, known: StoredSchedule | undefined): ScheduleRecord {
  if (!known) throw notThere(name);
  if (known.ok) return known.record;
  throw new Failure('INVALID', `the schedule ${name} cannot be read: ${known.problem}`, {
    hint: 'Add it anew, or remove it.',
  });
}

function notThere(name: string): Failure {
  return new Failure('INVALID', `there is no schedule ${name}`, {
    hint: '`trawl schedule ls` shows all of them.',
  });
}
