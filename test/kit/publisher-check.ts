/** What a publisher's outcomes promise, held against what the stream has. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '../../src/nats/connect.ts';
import {
  createPublisher,
  type Outgoing,
  type Publisher,
  type PublisherOptions,
  type PublishOutcome,
} from '../../src/nats/publisher.ts';
import type { Teardown } from './nats-server.ts';
import { together } from './together.ts';

export interface Sent {
  readonly message: Outgoing;
  readonly outcome: PublishOutcome;
}

export interface Kept {
  readonly subject: string;
  readonly text: string;
}

type StreamConfig = Parameters<Connection['jsm']['streams']['add']>[0];

let streams = 0;
const ELECTION_MAX_MS = 30_000;

/** A stream of its own, with the subjects `<name>.>`, that takes batches and keeps everything unless told otherwise. */
export async function addStream({ jsm }: Connection, config: Partial<StreamConfig> = {}): Promise<string> {
  streams += 1;
  const name = `S${streams}`;
  await jsm.streams.add({
    name,
    subjects: [`${name}.>`],
    num_replicas: 1,
    allow_atomic: true,
    allow_direct: true,
    ...config,
  });
  return name;
}

/** All ways of publishing, by the server's sync; each keeps the same promises. Batches are made of what comes together anyway. */
export const WAYS = [
  { durability: 'interval', way: 'one by one' },
  { durability: 'interval', way: 'together' },
  { durability: 'always', way: 'one by one' },
] as const;
export type Way = (typeof WAYS)[number]['way'];

/** The publisher that publishes in this way. */
export function inWay(way: Way, publisher: Publisher): Publisher {
  return way === 'together' ? together(publisher) : publisher;
}

export interface SetUp extends Omit<PublisherOptions, 'stream'> {
  readonly config?: Partial<StreamConfig>;
  readonly way?: Way;
}

export async function setUpPublisher(
  t: Teardown,
  connection: Connection,
  { config, way = 'one by one', ...options }: SetUp,
): Promise<{ name: string; publisher: Publisher }> {
  const name = await addStream(connection, config);
  const publisher = inWay(way, await createPublisher(connection, { stream: name, ...options }));
  t.teardown(() => publisher.close());
  return { name, publisher };
}

export function message(
  subject: string,
  text: string,
): { readonly subject: string; readonly payload: Uint8Array } {
  return { subject, payload: bytesOf(text) };
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Every message that a limits stream has, by sequence. */
export async function readStream(connection: Connection, stream: string): Promise<Map<number, Kept>> {
  const kept = new Map<number, Kept>();
  const { state } = await patiently(stream, () => connection.jsm.streams.info(stream));
  if (state.messages === 0) return kept;
  const consumer = await patiently(stream, () => connection.js.consumers.get(stream));
  const messages = await consumer.consume({ max_messages: 1_000 });
  for await (const message of messages) {
    kept.set(message.seq, { subject: message.subject, text: textOf(message.data) });
    if (message.info.pending === 0) break;
  }
  return kept;
}

/** A replicated stream that has lost its leader answers nobody until it has elected another. */
async function patiently<T>(stream: string, ask: () => Promise<T>): Promise<T> {
  const giveUpAtMs = performance.now() + ELECTION_MAX_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() >= giveUpAtMs)
        throw new Error(`the server does not answer for its stream ${stream}`, { cause: error });
      await delay(250);
    }
  }
}

/**
 * All that is wrong, in words; empty when every promise was kept. The texts of all messages must differ, so that
 * copies can be counted, and the stream must keep everything.
 */
export function findBrokenPromises(sent: readonly Sent[], kept: ReadonlyMap<number, Kept>): string[] {
  const broken: string[] = [];
  const copies = new Map<string, number>();
  for (const { text } of kept.values()) copies.set(text, (copies.get(text) ?? 0) + 1);

  for (const { message, outcome } of sent) {
    const text = textOf(message.payload);
    const count = copies.get(text) ?? 0;
    const once = message.expect !== undefined || message.repeatable !== true;
    if (once && count > 1) broken.push(`${text} is stored ${count} times`);
    if (outcome.kind === 'refused' && count > 0) broken.push(`${text} was refused, but it is stored`);
    if (outcome.kind !== 'stored') continue;
    const found = kept.get(outcome.seq);
    if (found?.text !== text || found.subject !== message.subject) {
      broken.push(`${text} is not at its sequence ${outcome.seq}: ${found?.text ?? 'nothing'} is`);
    }
  }
  const texts = new Set(sent.map(({ message }) => textOf(message.payload)));
  for (const { text } of kept.values()) if (!texts.has(text)) broken.push(`nobody published ${text}`);
  return broken;
}

export function countKinds(sent: readonly Sent[]): Record<PublishOutcome['kind'], number> {
  const counts = { stored: 0, refused: 0, unknown: 0 };
  for (const { outcome } of sent) counts[outcome.kind] += 1;
  return counts;
}
