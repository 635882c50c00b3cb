/**
 * The side of a supervised process: says that it serves, and notices when its supervisor is gone. Both do nothing in a
 * process that somebody started by hand.
 */
const READY = 'trawl.ready';

export function announceReady(): void {
  if (process.connected) process.send?.(READY);
}

/** Nobody would restart or stop this process any more: the caller should end it in good order. */
export function onSupervisorGone(gone: () => void): void {
  if (!process.connected) return;
  process.once('disconnect', gone);
  // The channel alone must not keep a process alive that has nothing left to do.
  process.channel?.unref();
}

/** The supervisor's side: is this message the one above? */
export function isReadyMessage(message: unknown): boolean {
  return message === READY;
}
