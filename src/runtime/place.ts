/** Where this process lives, so that a later one can tell whether a pid it reads about can be looked up here. */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * A name for the pid namespace of this process: the same for two processes only when each can see the other's pid.
 * The boot is part of it, because pids start again; so is the namespace, because containers share hosts and boots.
 */
export function readPlace(): string {
  const parts = [
    hostname(),
    orNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    orNothing(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}

/** Whether the process that wrote this still runs. Ask only about processes of this very place. */
export function isProcessRunning({ pid, startedAt }: { pid: number; startedAt: number }): boolean {
  // Our own pid in somebody else's record: in a container every first process has the same one.
  if (pid === process.pid) return startedAt >= Date.now() - process.uptime() * 1_000;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return ''; // not on this system
  }
}
