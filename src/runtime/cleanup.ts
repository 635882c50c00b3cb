/** Undo functions of one lifetime, run last-in-first-out, every one even if some throw. */
import type { Log } from '../telemetry/log.ts';

export interface Cleanup {
  add(name: string, undo: () => unknown): void;
  /** Runs what was added and not yet run. Never throws: what fails is logged. */
  run(): Promise<void>;
}

export function createCleanup(log: Log): Cleanup {
  const undos: { name: string; undo: () => unknown }[] = [];
  return {
    add: (name, undo) => void undos.push({ name, undo }),
    async run() {
      for (let next = undos.pop(); next; next = undos.pop()) {
        try {
          await next.undo();
        } catch (error) {
          log.warn('cleanup.failed', { step: next.name, reason: error });
        }
      }
    },
  };
}
