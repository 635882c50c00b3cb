/** Schedules, runs and intake in memory, with a clock that stands, for coordinators that may fall at any step. */
import { createScheduleLoop, type ScheduleLoop } from '../../src/actors/coordinator/schedule-loop.ts';
import type { ScheduleLoopPorts, ScheduleNews } from '../../src/actors/coordinator/schedule-ports.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { Schedules, StoredSchedule } from '../../src/nats/schedules.ts';
import type { DueMessage, RunSubmission } from '../../src/wire/due.ts';
import { decodeSchedule, encodeSchedule, type ScheduleRecord } from '../../src/wire/schedule-record.ts';
import type { RunRecord } from '../../src/wire/run-record.ts';
import { quietLog } from './nats-server.ts';

type Definition = ScheduleRecord['definition'];

export interface FakeDue extends DueMessage {
  readonly answered: Promise<'ack' | 'back'>;
}

export interface ScheduleWorld {
  now: number; // epoch ms
  readonly schedules: Schedules;
  readonly runs: Map<string, RunRecord>;
  readonly submissions: RunSubmission[];
  readonly news: ScheduleNews[];
  readonly planned: Map<string, { seq: number; definition: Definition }>;
  record(name: string): ScheduleRecord | undefined;
  put(name: string, record: Partial<ScheduleRecord>): void;
  putBytes(name: string, bytes: Uint8Array): void;
  endRun(id: string): void;
  /** A coordinator; `step` is called before each thing it does to the outside, and may throw. */
  coordinator(step?: (what: string) => Promise<void> | void): Coordinator;
}

export interface Coordinator {
  readonly loop: ScheduleLoop;
  /** The server fired, and this coordinator got it. */
  due(name: string, fired: { firedAt: number; nextAt: number }): FakeDue;
  /** Has dealt with all that it got. */
  handled(): Promise<void>;
  /** One look of a leader. */
  look(): Promise<void>;
}

export function createScheduleWorld(now: number): ScheduleWorld {
  const stored = new Map<string, { revision: number; bytes: Uint8Array }>();
  let revisions = 0;
  const world: ScheduleWorld = {
    now,
    runs: new Map(),
    submissions: [],
    news: [],
    planned: new Map(),
    schedules: {
      get: async (name) => read(name),
      list: async () => [...stored.keys()].sort().flatMap((name) => read(name) ?? []),
      async store(name, record, expect) {
        if ((stored.get(name)?.revision ?? 0) !== expect)
          throw new Failure('CONFLICT', `${name} was changed`);
        world.putBytes(name, encodeSchedule(record));
      },
      async remove(name) {
        world.planned.delete(name);
        return stored.delete(name);
      },
      planned: async () =>
        new Map(
          [...world.planned].map(([name, { seq, definition }]) => [
            name,
            { seq, isOf: (other) => JSON.stringify(other) === JSON.stringify(definition) },
          ]),
        ),
      async plan({ name }, definition, expect) {
        if (expect !== undefined && (world.planned.get(name)?.seq ?? 0) !== expect)
          throw new Failure('UNAVAILABLE', 'another message is there');
        world.planned.set(name, { seq: ++revisions, definition });
      },
      async unplan(name, seq) {
        if (seq === undefined || world.planned.get(name)?.seq === seq) world.planned.delete(name);
      },
    },
    record(name) {
      const found = read(name);
      return found?.ok ? found.record : undefined;
    },
    put(name, record) {
      const base = {
        definition: { name, scraper: 's', every: '1h' },
        createdAt: now,
        since: now,
        paused: false,
      };
      world.putBytes(name, encodeSchedule({ ...base, ...record }));
    },
    putBytes: (name, bytes) => void stored.set(name, { revision: ++revisions, bytes }),
    endRun(id) {
      const run = world.runs.get(id);
      if (run) world.runs.set(id, { ...run, state: 'done', endedAt: world.now });
    },
    coordinator,
  };
  return world;

  function read(name: string): StoredSchedule | undefined {
    const found = stored.get(name);
    if (!found) return undefined;
    try {
      return { name, revision: found.revision, ok: true, record: decodeSchedule(found.bytes) };
    } catch (error) {
      return { name, revision: found.revision, ok: false, problem: (error as Error).message };
    }
  }

  function coordinator(step: (what: string) => Promise<void> | void = () => undefined): Coordinator {
    const queue: FakeDue[] = [];
    let looks = 0;
    let endOfLooks = (): void => undefined;
    const { schedules } = world;
    /** Before and after: what was done may not be known to have been done. */
    const watched =
      <Args extends unknown[], T>(what: string, act: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        await step(`before ${what}`);
        const answer = await act(...args);
        await step(`after ${what}`);
        return answer;
      };
    const ports: ScheduleLoopPorts = {
      schedules: {
        ...schedules,
        get: watched('get', (name: string) => schedules.get(name)),
        store: watched('store', (...args: Parameters<Schedules['store']>) => schedules.store(...args)),
        plan: watched('plan', (...args: Parameters<Schedules['plan']>) => schedules.plan(...args)),
        unplan: watched('unplan', (...args: Parameters<Schedules['unplan']>) => schedules.unplan(...args)),
        async planned() {
          looks += 1;
          if (looks === 1) return schedules.planned();
          endOfLooks();
          return new Map();
        },
      },
      async *dueMessages() {
        for (const message of queue.splice(0)) yield await Promise.resolve(message);
      },
      submit: watched('submit', async (submission) => void world.submissions.push(submission)),
      runs: {
        get: watched('read run', async (id) => world.runs.get(id)),
        list: async () => [...world.runs.values()].map((run) => ({ run })),
        ensure: watched('make run', async ({ id, scraper, priority, standing }) => {
          const at = world.now;
          const run: RunRecord = {
            id,
            scraper,
            state: 'queued',
            priority,
            createdAt: at,
            lastSubmitAt: at,
            taken: 0,
            standing,
          };
          if (!world.runs.has(id)) world.runs.set(id, run);
        }),
        change: watched('seal run', async (id, change) => {
          const run = world.runs.get(id);
          const changed = run && change(run);
          if (changed) world.runs.set(id, changed);
        }),
      },
      announce: (news) => void world.news.push(news),
      now: () => world.now,
      random: Math.random,
      log: quietLog,
    };
    const loop = createScheduleLoop(ports, { retryMs: 1, lookEveryMs: 1, inHandMax: 4 });
    return {
      loop,
      due(name, fired) {
        let answer: (how: 'ack' | 'back') => void = () => undefined;
        const answered = new Promise<'ack' | 'back'>((resolve) => (answer = resolve));
        const message = {
          name,
          ...fired,
          answered,
          ack: () => answer('ack'),
          giveBack: () => answer('back'),
        };
        queue.push(message);
        return message;
      },
      async handled() {
        const end = new AbortController();
        const given = queue.map(({ answered }) => answered);
        const running = loop.run(end.signal);
        await Promise.all(given);
        end.abort();
        await running;
      },
      async look() {
        const over = new AbortController();
        looks = 0;
        // The first look is over when the second one begins.
        endOfLooks = () => over.abort();
        await loop.leaderDuties(over.signal);
      },
    };
  }
}
