/**
 * The queues of ready tasks where one worker stands: ten that are shared, and ten of each scraper that has its own.
 * Standing requests, which the server fills as tasks come. No consumer is created here.
 *
 * A request lives for a while on the server, which says so by heartbeats and tells when it ends unfilled. What is not
 * heard of any more (a lost connection, a new leader) is taken for lost and asked for again.
 */
import { createInbox, type Msg, type Subscription } from '@nats-io/nats-core';
import { PRIORITIES, type Priority } from '../domain/task.ts';
import type { Standing } from '../policy/standing.ts';
import type { Log } from '../telemetry/log.ts';
import { laneName } from '../wire/lanes.ts';
import type { Connection } from './connect.ts';
import { readDelivery, type TaskDelivery, type Unreadable } from './task-delivery.ts';
import { createTaskWords, type TaskWords } from './task-words.ts';

export interface TaskLanesOptions {
  readonly stream: string;
  readonly log: Log;
  onDelivery(delivery: TaskDelivery): void;
  onUnreadable(message: Unreadable): void;
  onRoom(): void;
}

export interface TaskLanes extends TaskWords {
  queues(lane: Priority): readonly TaskQueue[];
  /** Stands there from now on; before it is told, in the shared lanes alone. */
  stand(standing: Standing): void;
  close(): Promise<void>;
}

interface TaskQueue {
  requested(): number;
  request(count: number): void;
  withdraw(): void;
}

interface Lane extends TaskQueue {
  readonly priority: Priority;
  /** Of the consumer. */
  readonly name: string;
  readonly subject: string;
  inbox: string;
  subscription: Subscription | undefined;
  asked: number;
  heardAt: number; // monotonic ms
  /** Nothing is asked before this time (monotonic ms): the server was not able to answer. */
  restUntil: number;
  /** The server said no, and this was told; it has not been well since. */
  troubled: boolean;
}

const EXPIRES_MS = 30_000;
/** Of each lane of each worker, so they are many where nothing is to be done. */
const HEARTBEAT_MS = 10_000;
/** A heartbeat may be late by that much; then nobody knows of the request. */
const SILENCE_MAX_MS = 12_500;
const LOOK_EVERY_MS = 5_000;
const REST_MS = 500;
const NS_PER_MS = 1_000_000;
const HEARTBEAT = 100;
const EXPIRED = 408;

export function openTaskLanes(connection: Connection, options: TaskLanesOptions): TaskLanes {
  const { nc } = connection;
  const { log } = options;
  /** By priority; in each the one that was asked longest ago comes first. */
  const standing: Lane[][] = PRIORITIES.map((priority) => [createLane(priority)]);
  const draining = new Set<Promise<void>>();
  let closed = false;
  const watcher = setInterval(lookForSilence, LOOK_EVERY_MS).unref();
  const unwatch = connection.onChange((up) => {
    if (!up) return;
    // The requests of the old connection are gone with it.
    for (const lane of standing.flat()) forget(lane);
    options.onRoom();
  });

  return {
    ...createTaskWords(connection),
    queues: (priority) => standing[priority] ?? [],
    stand,
    async close() {
      closed = true;
      clearInterval(watcher);
      for (const lane of standing.flat()) forget(lane);
      await Promise.all(draining);
      unwatch();
    },
  };

  function createLane(priority: Priority, scraper?: string): Lane {
    const name = laneName({ priority, scraper });
    const lane: Lane = {
      priority,
      name,
      subject: `$JS.API.CONSUMER.MSG.NEXT.${options.stream}.${name}`,
      inbox: '',
      subscription: undefined,
      asked: 0,
      heardAt: 0,
      restUntil: 0,
      troubled: false,
      requested: () => lane.asked,
      request(count) {
        if (!closed && connection.isUp()) request(lane, count);
      },
      withdraw: () => forget(lane),
    };
    return lane;
  }

  function stand({ shared, own }: Standing): void {
    for (const priority of PRIORITIES) {
      const before = standing[priority] ?? [];
      const wanted = [...(shared ? [undefined] : []), ...own];
      const names = wanted.map((scraper) => laneName({ priority, scraper }));
      const kept = before.filter(({ name }) => names.includes(name));
      const added = wanted.filter((_, index) => !before.some(({ name }) => name === names[index]));
      for (const lane of before) if (!kept.includes(lane)) forget(lane);
      standing[priority] = [...kept, ...added.map((scraper) => createLane(priority, scraper))];
    }
    options.onRoom();
  }

  function request(lane: Lane, count: number): void {
    const now = performance.now();
    if (now < lane.restUntil) return;
    lane.subscription ??= subscribe(lane);
    lane.asked += count;
    lane.heardAt = now;
    const queues = standing[lane.priority] ?? [];
    if (queues.length > 1) standing[lane.priority] = [...queues.filter((each) => each !== lane), lane];
    const wish = { batch: count, expires: EXPIRES_MS * NS_PER_MS, idle_heartbeat: HEARTBEAT_MS * NS_PER_MS };
    // The count travels in the reply subject: an answer about this request brings it back.
    nc.publish(lane.subject, JSON.stringify(wish), { reply: `${lane.inbox}.${count}` });
  }

  function subscribe(lane: Lane): Subscription {
    lane.inbox = createInbox();
    const { inbox } = lane;
    return nc.subscribe(`${inbox}.*`, {
      callback(error, message) {
        if (error) return;
        // A withdrawn request may still bring tasks; of the new ones it says nothing.
        const current = lane.inbox === inbox;
        if (message.data.length === 0 && message.reply === '') {
          if (current) hearStatus(lane, message);
        } else {
          if (current) {
            lane.asked = Math.max(0, lane.asked - 1);
            lane.heardAt = performance.now();
            lane.troubled = false;
          }
          deliver(lane, message);
        }
      },
    });
  }

  function deliver(lane: Lane, message: Msg): void {
    const delivery = readDelivery(message, lane.priority);
    if ('task' in delivery) options.onDelivery(delivery);
    else options.onUnreadable(delivery);
  }

  function hearStatus(lane: Lane, { headers, subject }: Msg): void {
    lane.heardAt = performance.now();
    const code = headers?.code ?? 0;
    if (code === HEARTBEAT) {
      lane.troubled = false;
      return;
    }
    const asked = subject.slice(lane.inbox.length + 1);
    const left = Number(headers?.get('Nats-Pending-Messages') || asked);
    lane.asked = Math.max(0, lane.asked - left);
    if (code === EXPIRED) options.onRoom();
    else rest(lane, `${code} ${headers?.description ?? ''}`);
  }

  function rest(lane: Lane, reason: string): void {
    lane.restUntil = performance.now() + REST_MS;
    if (!lane.troubled) log.warn('lane.interrupted', { lane: lane.name, reason });
    lane.troubled = true;
    setTimeout(() => options.onRoom(), REST_MS).unref();
  }

  /** What comes before the server has heard of it is still delivered. */
  function forget(lane: Lane): void {
    const { subscription } = lane;
    lane.subscription = undefined;
    lane.inbox = '';
    lane.asked = 0;
    if (!subscription || subscription.isClosed()) return;
    // Without a connection there is nothing to drain.
    const drained = subscription.drain().catch(() => undefined);
    draining.add(drained);
    void drained.finally(() => draining.delete(drained));
  }

  function lookForSilence(): void {
    if (!connection.isUp()) return;
    const since = performance.now() - SILENCE_MAX_MS;
    const silent = standing.flat().filter(({ asked, heardAt }) => asked > 0 && heardAt < since);
    if (silent.length === 0) return;
    log.warn('lane.silent', { lanes: silent.map(({ name }) => name) });
    for (const lane of silent) forget(lane);
    options.onRoom();
  }
}
