/**
 * Calls: one run of a handler for somebody who waits for the answer. They share the slots of the tasks, are neither
 * stored nor tried again, and are refused at once where a task would wait.
 */
import type { TaskResult, TaskSpec } from '../../domain/task.ts';
import type { AttemptOutcome } from '../../policy/settle.ts';
import { leaveBehind, startAttempt, tellToEnd, type Attempt } from './attempt.ts';
import type { Delivery, WorkerLimits, WorkerPorts } from './ports.ts';
import type { Slots } from './slots.ts';

export type CallAnswer =
  /** Nothing was done: somebody else may do it. */
  | { readonly state: 'refused'; readonly reason: 'busy' | 'paused' | 'stopping' | 'unknown-scraper' }
  | {
      readonly state: 'done';
      readonly result: TaskResult;
      /** What the handler enqueued; nothing of it is submitted. */
      readonly followUps: number;
      readonly ms: number;
    }
  | {
      readonly state: 'failed';
      readonly error: { readonly code: string; readonly message: string };
      readonly ms: number;
    };

export interface Calls {
  call(spec: TaskSpec, limitMs: number): Promise<CallAnswer>;
  running(): number;
  abort(): void;
}

export interface CallParts {
  readonly ports: Pick<
    WorkerPorts,
    'withLock' | 'openFetch' | 'sharedOf' | 'log' | 'findScraper' | 'pausedBy' | 'isOpen'
  >;
  readonly limits: Pick<WorkerLimits, 'timeoutMs' | 'abortGraceMs'>;
  readonly slots: Pick<Slots, 'now' | 'used'>;
  /** Whether the worker still takes work. */
  readonly isTaking: () => boolean;
  /** Whether tasks leave a slot free. */
  readonly tasksRunning: () => number;
  readonly isReserved: () => boolean;
  readonly onEnd: () => void;
}

export function createCalls(parts: CallParts): Calls {
  const { ports, limits } = parts;
  const running = new Set<Attempt>();

  return {
    running: () => running.size,
    abort() {
      for (const attempt of running) tellToEnd(attempt, { kind: 'stopping' });
    },
    async call(spec, limitMs) {
      if (!parts.isTaking()) return refused('stopping');
      if (!ports.isOpen() || ports.pausedBy(spec) !== undefined) return refused('paused');
      const scraper = ports.findScraper(spec.scraper);
      if (!scraper) return refused('unknown-scraper');
      const busy = parts.tasksRunning() + running.size;
      if (parts.isReserved() || busy >= parts.slots.now()) return refused('busy');
      parts.slots.used(busy + 1);
      const timeoutMs = Math.min(limitMs, scraper.timeoutMs ?? limits.timeoutMs);
      return new Promise((resolve) => {
        const attempt: Attempt = startAttempt({
          delivery: deliveryOf(spec),
          scraper,
          timeoutMs,
          ports,
          onEnd(ended, outcome) {
            clearTimeout(timer);
            running.delete(ended);
            resolve(answerOf(ended, outcome));
            parts.onEnd();
          },
        });
        running.add(attempt);
        let timer = setTimeout(() => {
          tellToEnd(attempt, { kind: 'timeout' });
          // A handler that does not heed its signal is not waited for.
          timer = setTimeout(() => leaveBehind(attempt), limits.abortGraceMs);
        }, timeoutMs);
      });
    },
  };
}

function refused(reason: Extract<CallAnswer, { state: 'refused' }>['reason']): CallAnswer {
  return { state: 'refused', reason };
}

/** A call has no place in the queue: nobody leases it, and nobody hears what becomes of it there. */
function deliveryOf(spec: TaskSpec): Delivery {
  const now = performance.now();
  return {
    task: { spec, acceptSeq: 0, faults: [], triedProxies: [], deferrals: 0 },
    lane: spec.priority,
    deliveries: 1,
    reply: '',
    receivedAt: now,
    leasedAt: now,
  };
}

function answerOf({ startedMs, followUps, ending }: Attempt, outcome: AttemptOutcome): CallAnswer {
  if (ending?.kind === 'stopping') return refused('stopping');
  const ms = Math.round(performance.now() - startedMs);
  switch (outcome.kind) {
    case 'done':
      return { state: 'done', result: outcome.result, followUps: followUps.length, ms };
    case 'failed': {
      const { code, message } = outcome.failure;
      return { state: 'failed', error: { code, message }, ms };
    }
    case 'cancelled':
      return { state: 'failed', error: { code: 'CANCELLED', message: outcome.why }, ms };
  }
}
