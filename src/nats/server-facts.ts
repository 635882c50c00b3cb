/** What a server tells about itself to whoever may use it. */
import type { Connection } from './connect.ts';

/** Bytes of all streams of this account on disk; undefined when JetStream does not answer. */
export async function readStoreUse({ jsm }: Connection): Promise<number | undefined> {
  try {
    return (await jsm.getAccountInfo()).storage;
  } catch {
    return undefined;
  }
}

/** How far the server's clock is ahead of ours, taken in the middle of the round trip; undefined when it does not say. */
export async function readClockSkew({ jsm }: Connection): Promise<number | undefined> {
  const names = await jsm.streams.names().next();
  const name = names[0];
  if (name === undefined) return undefined;
  const asked = Date.now();
  const { ts } = (await jsm.streams.info(name)) as { ts?: string };
  const answered = Date.now();
  return ts === undefined ? undefined : Date.parse(ts) - (asked + answered) / 2;
}
