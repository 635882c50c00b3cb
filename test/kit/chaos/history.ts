/**
 * What happened, one line of JSON per event. Each line is one write to a file that is open for appending, so that
 * several processes can share it and a process that is killed leaves whole lines behind.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

export type FaultKind = 'killWorker' | 'pauseWorker' | 'killCoordinator' | 'pauseCoordinator' | 'killServer';

export type ChaosEvent =
  /** Tasks, as `<run>.<id>`, that were sent in one piece; `unknown`: nobody said whether they were stored. */
  | {
      readonly type: 'submit';
      readonly at: number; // epoch ms
      readonly tasks: readonly string[];
      readonly outcome: 'stored' | 'unknown';
    }
  | { readonly type: 'begin'; readonly at: number; readonly task: string; readonly pid: number }
  | {
      readonly type: 'end';
      readonly at: number;
      readonly task: string;
      readonly pid: number;
      readonly outcome: 'done' | 'failed' | 'deferred';
    }
  | {
      readonly type: 'fault';
      readonly at: number;
      readonly kind: FaultKind;
      /** Whom it hit. */
      readonly pid: number;
      /** When it was over. */
      readonly until: number;
    }
  /** A process ended; whoever did it. */
  | { readonly type: 'died'; readonly at: number; readonly role: string; readonly pid: number };

export interface History {
  add(event: ChaosEvent): void;
  close(): void;
}

export function openHistory(file: string): History {
  const fd = openSync(file, 'a');
  return {
    add: (event) => void writeSync(fd, `${JSON.stringify(event)}\n`),
    close: () => closeSync(fd),
  };
}

export function readHistory(file: string): ChaosEvent[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ChaosEvent);
}
