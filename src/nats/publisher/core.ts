/** The moving parts of a publisher, joined: the window, the courier, the link and the judge. */
import type { Connection } from '../connect.ts';
import { REFUSED_CLOSED, REFUSED_MALFORMED, REFUSED_TOO_BIG } from './answer.ts';
import type { Courier, CourierPorts } from './courier.ts';
import { faultOf, headerLinesOf, sizeOf, type Entry } from './entry.ts';
import { createGroups } from './groups.ts';
import { createJudge } from './judge.ts';
import { createLink } from './link.ts';
import { createSingles } from './singles.ts';
import type { StreamTraits } from './traits.ts';
import { createWindow } from './window.ts';
import type { Outgoing, Publisher, PublisherOptions, PublishOutcome } from '../publisher.ts';

export type PublisherSettings = Required<Omit<PublisherOptions, 'log'>> & Pick<PublisherOptions, 'log'>;

/** The server takes no larger batch unless it is told to. */
const BATCH_MAX = 1_000;
const SWEEP_MAX_MS = 500;

export function createPublisherCore(
  connection: Connection,
  settings: PublisherSettings,
  traits: StreamTraits,
): Publisher {
  const { stream, log } = settings;
  const { nc } = connection;
  const window = createWindow<Entry>({ messages: settings.window, bytes: settings.windowBytes }, (entry) =>
    courier.submit(entry),
  );
  const link = createLink(connection, {
    onOpen() {
      courier.pump();
      judge.pump();
    },
    onLost() {
      if (window.size() > 0) log?.warn('publisher.interrupted', { stream, messages: window.size() });
      courier.hush('the connection was lost');
    },
  });
  const judge = createJudge({
    connection,
    stream,
    link,
    ackTimeoutMs: settings.ackTimeoutMs,
    mayVanish: traits.mayVanish,
    settle,
    resubmit: (entry) => courier.resubmit(entry),
  });
  const courier = createCourier({
    connection,
    stream,
    ackTimeoutMs: settings.ackTimeoutMs,
    link,
    judge: (entry, answer) => judge.judge(entry, answer),
  });
  const sweeper = setInterval(sweep, Math.min(settings.ackTimeoutMs / 4, SWEEP_MAX_MS)).unref();
  let published = 0;
  let closed = false;
  void connection.ended.then(close);

  return {
    publish,
    room: () => window.room(),
    flush: () => window.empty(),
    async close() {
      close();
    },
    pending: () => window.size(),
  };

  function createCourier(ports: CourierPorts): Courier {
    if (settings.durability !== 'always' || !traits.atomic) return createSingles(ports);
    // Unknown while the connection is down; the server refuses what is too big.
    const maxPayload = nc.info?.max_payload ?? Infinity;
    return createGroups(ports, { batch: Math.min(settings.batch, BATCH_MAX), maxPayload });
  }

  function publish(message: Outgoing): Promise<PublishOutcome> {
    if (closed) return refuse(REFUSED_CLOSED, 'the publisher is closed');
    const fault = faultOf(message);
    if (fault !== undefined) return refuse(REFUSED_MALFORMED, fault);
    const headerLines = headerLinesOf(message);
    const bytes = sizeOf(message.payload, headerLines);
    const maxPayload = nc.info?.max_payload ?? Infinity;
    if (bytes > maxPayload) {
      const reason = `the message has ${bytes} bytes, and the server takes ${maxPayload} (max_payload)`;
      return refuse(REFUSED_TOO_BIG, reason);
    }
    return new Promise((resolve) => {
      published += 1;
      const entry: Entry = {
        message,
        order: published,
        headerLines,
        bytes,
        giveUpAtMs: performance.now() + settings.giveUpMs,
        resolve,
        sentAtMs: 0,
        doubtful: false,
        refused: false,
        done: false,
      };
      if (window.enter(entry)) courier.submit(entry);
    });
  }

  function settle(entry: Entry, outcome: PublishOutcome): void {
    if (entry.done) return;
    entry.done = true;
    entry.resolve(outcome);
    window.leave(entry);
  }

  function sweep(): void {
    const nowMs = performance.now();
    courier.sweep(nowMs);
    const expired = window.oldestWhile((entry) => entry.giveUpAtMs <= nowMs);
    if (expired.length === 0) return;
    log?.warn('publisher.gave_up', { stream, messages: expired.length });
    const reason = `not confirmed within ${settings.giveUpMs} ms`;
    for (const entry of expired) settle(entry, { kind: 'unknown', reason });
  }

  function close(): void {
    if (closed) return;
    closed = true;
    clearInterval(sweeper);
    link.close();
    courier.close();
    for (const entry of window.dissolve())
      settle(entry, { kind: 'unknown', reason: 'the publisher was closed' });
  }
}

function refuse(code: number, reason: string): Promise<PublishOutcome> {
  return Promise.resolve({ kind: 'refused', code, reason });
}
