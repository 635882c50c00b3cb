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
  readonly queuedAt: number; // epoch ms, by the server's clock
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
    return { task, lane, ...readPlace(reply), reply, receivedAt: now, leasedAt: now };
  } catch (error) {
    // A copy, because the client's own buffer holds all that came with it.
    return { subject: message.subject, data: Uint8Array.from(message.data), reply, reason: messageOf(error) };
  }
}

/** `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<sequence>.<delivery>.<nanoseconds>.…` */
function readPlace(reply: string): { readonly deliveries: number; readonly queuedAt: number } {
  const tokens = reply.split('.');
  const at = tokens.length > 9 ? 6 : 4;
  return { deliveries: Number(tokens[at]), queuedAt: Number(tokens[at + 3]) / 1e6 };
}
