/** What the server says is due, and the submission that follows. */
import type { ScheduledTask } from '../domain/task.ts';

/** The server fired; in hand until it is acknowledged or given back. */
export interface DueMessage {
  readonly name: string;
  readonly firedAt: number; // epoch ms
  /** The time that the server plans next (epoch ms); NaN where it was not the server that fired. */
  readonly nextAt: number;
  ack(): void;
  /** Not a word, if somebody else may have it by now. */
  giveBack(delayMs: number): void;
}

export interface RunSubmission {
  readonly scraper: string;
  readonly run: string;
  readonly tasks: readonly ScheduledTask[];
  readonly priority: number;
  readonly notBefore?: number; // epoch ms
}
