/**
 * Group commit: gathers what is published within a few milliseconds and sends it as one atomic batch, so that the
 * disk is asked to sync once for all of it. Several batches are under way at once (lanes).
 *
 * A subject is in one lane at a time: a batch that is refused is sent again in parts, and a later message on the
 * same subject must not pass in another lane meanwhile. Within a batch a subject may repeat only in plain messages,
 * because the server refuses an expectation on a subject that the batch itself has written.
 */
import { createBacklog } from './backlog.ts';
import { BATCH_HEADER_BYTES, createBatchSender } from './batch.ts';
import type { Courier, CourierPorts } from './courier.ts';
import { createDelivery } from './delivery.ts';
import type { Entry } from './entry.ts';

export interface GroupLimits {
  readonly batch: number;
  readonly maxPayload: number;
}

const LANES = 4;
const GATHER_MS = 2;
const GROUP_MAX_BYTES = 512 * 1024;

export function createGroups(ports: CourierPorts, limits: GroupLimits): Courier {
  const { link } = ports;
  const backlog = createBacklog();
  const sender = createBatchSender(ports);
  const deliver = createDelivery({ ...ports, send: (entries) => sender.send(entries), resubmit });
  const busySubjects = new Set<string>();
  let busyLanes = 0;
  let soon: NodeJS.Immediate | undefined;
  let gathering: NodeJS.Timeout | undefined;

  return {
    submit(entry) {
      backlog.push(entry);
      schedule();
    },
    resubmit,
    pump: schedule,
    hush: (reason) => sender.hush(reason),
    close() {
      sender.close();
      clearImmediate(soon);
      clearTimeout(gathering);
    },
  };

  function resubmit(entry: Entry): void {
    backlog.putBack(entry);
    schedule();
  }

  /** A lonely message goes at the end of this turn; under load, a batch waits for company while others are under way. */
  function schedule(): void {
    if (soon !== undefined || backlog.length() === 0 || busyLanes === LANES || !link.isOpen()) return;
    if (busyLanes === 0 || backlog.length() >= limits.batch) {
      soon = setImmediate(() => {
        soon = undefined;
        start();
      });
    } else {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        start();
      }, GATHER_MS);
    }
  }

  function start(): void {
    if (busyLanes === LANES || !link.isOpen()) return;
    const group = backlog.take(createChooser(limits, busySubjects));
    if (group.length === 0) return;
    busyLanes += 1;
    for (const { message } of group) busySubjects.add(message.subject);
    void deliver(group).then(() => {
      busyLanes -= 1;
      for (const { message } of group) busySubjects.delete(message.subject);
      schedule();
    });
    schedule();
  }
}

type Choice = 'take' | 'skip' | 'stop';

/** Chooses the members of one batch, from the front of the backlog. */
function createChooser(limits: GroupLimits, busySubjects: ReadonlySet<string>): (entry: Entry) => Choice {
  const plainByTaken = new Map<string, boolean>();
  const skipped = new Set<string>();
  let count = 0;
  let bytes = 0;
  let closed = false;

  return (entry) => {
    const alone = entry.bytes + BATCH_HEADER_BYTES > limits.maxPayload;
    const full = count === limits.batch || (count > 0 && (alone || bytes + entry.bytes > GROUP_MAX_BYTES));
    if (closed || full || skipped.size === limits.batch) return 'stop';
    const { subject, fence } = entry.message;
    const plain = entry.headerLines === '';
    const taken = plainByTaken.get(subject);
    const clash = taken !== undefined && !(taken && plain);
    if (
      clash ||
      skipped.has(subject) ||
      busySubjects.has(subject) ||
      (fence && plainByTaken.has(fence.subject))
    ) {
      skipped.add(subject);
      return 'skip';
    }
    plainByTaken.set(subject, plain);
    count += 1;
    bytes += entry.bytes;
    closed = alone;
    return 'take';
  };
}
