/** SIGINT and SIGTERM: the first asks to stop in order, the second ends the process at once. */
import { onSupervisorGone } from '../local/supervised.ts';

const CODE_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

export function watchInterrupts(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (signal: keyof typeof CODE_OF_SIGNAL): void => {
    if (controller.signal.aborted) process.exit(CODE_OF_SIGNAL[signal]);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  onSupervisorGone(() => controller.abort());
  return controller.signal;
}
