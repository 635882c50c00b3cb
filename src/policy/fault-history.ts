/** The failed attempts that a task carries along: enough to see how it began and how it goes, and never more. */
import type { Fault } from '../domain/task.ts';

/** The first fault and the last 19. */
export const FAULTS_MAX = 20;
/** A page or a stack trace in a message would travel with every attempt. */
const MESSAGE_MAX_CHARACTERS = 500;

export function addFault(faults: readonly Fault[], fault: Fault): readonly Fault[] {
  const all = [...faults, { ...fault, message: shortenMessage(fault.message) }];
  return all.length <= FAULTS_MAX ? all : [...all.slice(0, 1), ...all.slice(-(FAULTS_MAX - 1))];
}

export function shortenMessage(message: string): string {
  if (message.length <= MESSAGE_MAX_CHARACTERS) return message;
  return `${message.slice(0, MESSAGE_MAX_CHARACTERS - 1)}…`;
}
