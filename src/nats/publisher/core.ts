/** The moving parts of a publisher, joined: the window, the courier, the link and the judge. */
import type { Connection } from '../connect.ts';
import { REFUSED_CLOSED, REFUSED_MALFORMED, REFUSED_TOO_BIG, type Answer } from './answer.ts';
import type { Courier, CourierPorts } from './courier.ts';
import { faultOf, headerLinesOf, sizeOf, type Entry } from './entry.ts';
import { createGroups } from './groups.ts';
import { createJudge } from './judge.ts';
import { createLink } from './link.ts';
import { createSalvos } from './salvos.ts';
import { createSingles } from './singles.ts';
import { createSweeper } from './sweeper.ts';
import type { StreamTraits } from './traits.ts';
import { createWindow } from './window.ts';
import type { Outgoing, Publisher, PublisherOptions, PublishOutcome } from '../publisher.ts';

export type PublisherSettings = Required<Omit<PublisherOptions, 'log'>> & Pick<PublisherOptions, 'log'>;

/** The server takes no larger batch unless it is told to. */
const BATCH_MAX = 1_000;
const SWEEP_MAX_MS = 500;
const CLOSED: PublishOutcome = { kind: 'refused', code: REFUSED_CLOSED, reason: 'the publisher is closed' };
const CUT_OFF: PublishOutcome = { kind: 'unknown', reason: 'the publisher was closed' };

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
      salvos.hush('the connection was lost');
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
  const salvos = createSalvos({
    connection,
    stream,
    ackTimeoutMs: settings.ackTimeoutMs,
    handOver,
    release: (load) => window.release(load),
    progress: () => link.progress(),
  });
  const sweeper = createSweeper(Math.min(settings.ackTimeoutMs / 4, SWEEP_MAX_MS), sweep);
  let published = 0;
  let closed = false;
  void connection.ended.then(close);

  return {
    publish,
    publishMany,
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

  async function publishMany(messages: readonly Outgoing[]): Promise<readonly PublishOutcome[]> {
    const isQuick = settings.durability === 'interval' && messages.length > 0 && !closed && link.isOpen();
    if (isQuick && messages.every((message) => faultIn(message, headerLinesOf(message)) === undefined)) {
      const load = { messages: messages.length, bytes: 0 };
      for (const { payload } of messages) load.bytes += payload.length;
      if (window.hold(load)) return salvos.fire(messages, load);
    }
    // One by one they wait in line, behind those that came before.
    return Promise.all(messages.map(publish));
  }

  /** Why the server would not take it, if it would not. */
  function faultIn(
    message: Outgoing,
    headerLines: string,
  ): Extract<PublishOutcome, { kind: 'refused' }> | undefined {
    const fault = faultOf(message);
    if (fault !== undefined) return { kind: 'refused', code: REFUSED_MALFORMED, reason: fault };
    const bytes = sizeOf(message.payload, headerLines);
    const maxPayload = nc.info?.max_payload ?? Infinity;
    if (bytes <= maxPayload) return undefined;
    const reason = `the message has ${bytes} bytes, and the server takes ${maxPayload} (max_payload)`;
    return { kind: 'refused', code: REFUSED_TOO_BIG, reason };
  }

  function publish(message: Outgoing): Promise<PublishOutcome> {
    if (closed) return Promise.resolve(CLOSED);
    const headerLines = headerLinesOf(message);
    const fault = faultIn(message, headerLines);
    if (fault) return Promise.resolve(fault);
    return new Promise((resolve) => {
      const entry = enter(message, headerLines, resolve);
      if (window.enter(entry)) courier.submit(entry);
    });
  }

  /** It was sent with others, and this is all that was heard of it. */
  function handOver(message: Outgoing, answer: Answer): Promise<PublishOutcome> {
    if (closed) return Promise.resolve(CUT_OFF);
    return new Promise((resolve) => {
      const entry = enter(message, headerLinesOf(message), resolve);
      window.force(entry);
      judge.judge(entry, answer);
    });
  }

  function enter(message: Outgoing, headerLines: string, resolve: Entry['resolve']): Entry {
    published += 1;
    sweeper.arm();
    return {
      message,
      order: published,
      headerLines,
      bytes: sizeOf(message.payload, headerLines),
      giveUpAtMs: performance.now() + settings.giveUpMs,
      resolve,
      sentAtMs: 0,
      doubtful: false,
      refused: false,
      done: false,
    };
  }

  function settle(entry: Entry, outcome: PublishOutcome): void {
    if (entry.done) return;
    entry.done = true;
    entry.resolve(outcome);
    window.leave(entry);
  }

  /** Gives up what has waited for too long; whether something is left. */
  function sweep(): boolean {
    const nowMs = performance.now();
    const expired = window.oldestWhile((entry) => entry.giveUpAtMs <= nowMs);
    if (expired.length > 0) log?.warn('publisher.gave_up', { stream, messages: expired.length });
    const reason = `not confirmed within ${settings.giveUpMs} ms`;
    for (const entry of expired) settle(entry, { kind: 'unknown', reason });
    return window.size() > 0;
  }

  function close(): void {
    if (closed) return;
    closed = true;
    sweeper.close();
    link.close();
    courier.close();
    salvos.close();
    for (const entry of window.dissolve()) settle(entry, CUT_OFF);
  }
}
