/** What the coordinator needs from the outside to keep schedules, in its own words. */
import type { ScheduleSpec } from '../../policy/schedule-spec.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DueMessage, RunSubmission } from '../../wire/due.ts';
import type { RunRecord } from '../../wire/run-record.ts';
import type { ScheduleRecord } from '../../wire/schedule-record.ts';

export type StoredSchedule = { readonly name: string; readonly revision: number } & (
  { readonly ok: true; readonly record: ScheduleRecord } | { readonly ok: false; readonly problem: string }
);

type Definition = ScheduleRecord['definition'];

export interface Schedules {
  get(name: string): Promise<StoredSchedule | undefined>;
  list(): Promise<readonly StoredSchedule[]>;
  /** In place of the revision that was read; CONFLICT when that is no longer there. */
  store(name: string, record: ScheduleRecord, expect: number): Promise<void>;
  /** What makes the server fire, by name. */
  planned(): Promise<
    ReadonlyMap<
      string,
      {
        readonly seq: number;
        /** It has fired, and nobody has dealt with that yet. */
        readonly fired?: boolean;
        isOf(definition: Definition): boolean;
      }
    >
  >;
  /** In place of the message of that sequence, 0 for none. */
  plan(spec: ScheduleSpec, definition: Definition, expect: number): Promise<void>;
  unplan(name: string, seq?: number): Promise<void>;
}

export interface ScheduleRuns {
  get(id: string): Promise<RunRecord | undefined>;
  list(): Promise<readonly { readonly run: RunRecord }[]>;
  ensure(draft: {
    readonly id: string;
    readonly scraper: string;
    readonly priority: number;
    readonly standing: false;
  }): Promise<unknown>;
  change(id: string, change: (run: RunRecord) => RunRecord | undefined): Promise<unknown>;
}

export type ScheduleNews = { readonly schedule: string } & (
  | { readonly kind: 'fired'; readonly run: string; readonly dueAt: number; readonly reason: string }
  | { readonly kind: 'skipped'; readonly dueAt: number; readonly reason: string }
  /** It cannot be read or carried out, and will not be until somebody mends it. */
  | { readonly kind: 'broken'; readonly reason: string }
);

export interface ScheduleLoopPorts {
  readonly schedules: Schedules;
  /** What the server fired, until the signal aborts. */
  readonly dueMessages: (signal: AbortSignal) => AsyncIterable<DueMessage>;
  /** One message of the intake; twice does no harm. */
  readonly submit: (submission: RunSubmission) => Promise<void>;
  readonly runs: ScheduleRuns;
  readonly announce: (news: ScheduleNews) => void;
  readonly now: () => number; // epoch ms
  readonly random: () => number;
  readonly log: Log;
}
