/** The `cluster` bucket of a test server, made from its definition, and ways to wait for what happens in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBucket, type Bucket, type Change } from '../../src/nats/bucket.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { projectRoot } from '../../src/project-root.ts';
import { createNames } from '../../src/wire/names.ts';
import type { Teardown, TestServer } from './nats-server.ts';

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | undefined): string | undefined =>
  value && new TextDecoder().decode(value);

/** Opens the bucket on a connection of its own, and makes it first where it is missing. */
export async function openClusterBucket(
  server: TestServer,
  name?: string,
): Promise<{ bucket: Bucket; connection: Connection }> {
  const connection = await server.connect(name);
  const definition = readFileSync(join(projectRoot, 'nats/buckets/cluster.json'), 'utf8');
  await connection.jsm.streams.add(
    JSON.parse(definition) as Parameters<typeof connection.jsm.streams.add>[0],
  );
  return { bucket: openBucket(connection, createNames('trawl').bucket('cluster')), connection };
}

export interface Heard {
  readonly changes: readonly Change[];
  /** The first change, past or to come, that fits; fails after the limit. */
  until(fits: (change: Change) => boolean, limitMs?: number): Promise<Change>;
}

/** Follows keys for as long as the test runs. */
export async function listen(t: Teardown, bucket: Bucket, filter: string): Promise<Heard> {
  const changes: Change[] = [];
  const waiting = new Set<() => void>();
  const end = new AbortController();
  t.teardown(() => end.abort());
  await bucket.watch(
    filter,
    (change) => {
      changes.push(change);
      for (const look of waiting) look();
    },
    end.signal,
  );
  return { changes, until };

  function until(fits: (change: Change) => boolean, limitMs = 10_000): Promise<Change> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`not heard within ${limitMs} ms; heard ${JSON.stringify(changes.map(summary))}`));
      }, limitMs);
      const look = (): void => {
        const found = changes.find(fits);
        if (!found) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  }
}

function summary({ key, reason, entry }: Change): unknown[] {
  return [key, reason, entry?.revision, text(entry?.value)];
}
