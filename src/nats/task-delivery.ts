/** A message of the queue of tasks, read: a task with what the server says about its delivery, or something else. */
import type { Msg } from '@nats-io/nats-core';
import { messageOf } from '../domain/failure.ts';
import type { Priority, TaskMessage } from '../domain/task.ts';
import { decodeTask } from '../wire/task-codec.ts';

export interface TaskDelivery {
  readonly task: TaskMessage;
  readonly lane: Priority;
  /** How often the server has delivered it, this time included. */
  readonly deliveries: number;
  readonly reply: string;
  readonly receivedAt: number; // monotonic ms
  leasedAt: number; // monotonic ms
}

export interface Unreadable {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reply: string;
  readonly reason: string;
}

export function readDelivery(message: Msg, lane: Priority): TaskDelivery | Unreadable {
  const reply = message.reply ?? '';
  try {
    const task = decodeTask(message.data);
    const now = performance.now();
    return { task, lane, deliveries: readDeliveries(reply), reply, receivedAt: now, leasedAt: now };
  } catch (error) {
    // A copy, because the client's own buffer holds all that came with it.
    return { subject: message.subject, data: Uint8Array.from(message.data), reply, reason: messageOf(error) };
  }
}

/** `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.…` */
function readDeliveries(reply: string): number {
  const tokens = reply.split('.');
  return Number(tokens[tokens.length > 9 ? 6 : 4]);
}
