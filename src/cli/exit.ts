/** Exit codes, stable: scripts rely on them. */
import type { FailureCode } from '../domain/failure.ts';

export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2, // wrong arguments or configuration
  unreachable: 3, // NATS does not answer
  deadTasks: 4, // finished, with dead tasks
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const CODE_OF: Readonly<Partial<Record<FailureCode, ExitCode>>> = {
  INVALID: EXIT.usage,
  UNAVAILABLE: EXIT.unreachable,
};

export function exitCodeOf(code: FailureCode): ExitCode {
  return CODE_OF[code] ?? EXIT.failure;
}
