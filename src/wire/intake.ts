/** What the coordinators read of the intake, and how they may treat it. */
import type { PageBudget } from '../domain/task.ts';
import type { ParsedSubmission } from './submission.ts';
import type { ParsedRequest } from './submission-task.ts';

/** One message of the intake, in hand until it is acknowledged or given back. */
export interface IntakeMessage {
  /** Its place in the intake: the same at every delivery. */
  readonly seq: number;
  readonly at: number; // epoch ms, when the server stored it
  readonly bytes: number;
  /** Messages of the same source that wait behind it. */
  readonly behind: number;
  readonly scraper: string;
  /** The run in its subject. */
  readonly run?: string;
  /** The run in its header, for a message that has none in its subject. */
  readonly headerRun?: string;
  parse(): ParsedSubmission;
  /** Puts the whole message under the subject of a run. */
  forwardWhole(run: string): Promise<void>;
  /** False for good once the server may have given it to somebody else: then it is no longer ours to act on. */
  isHeld(): boolean;
  ack(): void;
  /** Not a word, if it is no longer held. */
  giveBack(delayMs: number): void;
}

/** Where intake messages come from: one run, or everything without a run in its subject. */
export interface IntakeSource {
  readonly run?: string;
}

export interface ForwardTo {
  readonly scraper: string;
  readonly run: string;
  /** Of the message that they came in. */
  readonly seq: number;
  readonly budget?: PageBudget | undefined;
}

export interface Intake {
  /** Ends when the signal aborts; what was fetched but not handed out is given back. */
  messages(source: IntakeSource, signal: AbortSignal): AsyncIterable<IntakeMessage>;
  /** Puts tasks under the subject of their run. */
  forward(tasks: readonly ParsedRequest[], to: ForwardTo): Promise<void>;
  /** Changes whenever something was submitted. */
  lastSeq(): Promise<number>;
  /** What waits or is in hand, by the runs in the subjects. */
  openByRun(): Promise<readonly { scraper: string; run: string; messages: number }[]>;
  openOf(run: string): Promise<number>;
  /** Removes the consumer of a run that needs none any more. */
  forget(run: string): Promise<void>;
  /** The runs that have a consumer. */
  remembered(): Promise<readonly string[]>;
}
