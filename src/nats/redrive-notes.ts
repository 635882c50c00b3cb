/**
 * Dead tasks that are being put back, noted in the `cluster` bucket before anything is done: between the change in the
 * ledger and the message in the queue lies a moment in which a task would be lost with whoever puts it back.
 */
import { nuid } from '@nats-io/nats-core';
import { decode, encodeJson } from '../wire/codec.ts';
import { keys } from '../wire/names.ts';
import { isConflict, type Bucket } from './bucket.ts';

export interface NotedTask {
  readonly run: string;
  readonly id: string;
}

export interface RedriveNotes {
  /** Its name, to be forgotten by when they are in the queue. */
  note(tasks: readonly NotedTask[]): Promise<string>;
  forget(name: string): Promise<void>;
  list(): Promise<{ readonly name: string; readonly at: number; readonly tasks: readonly NotedTask[] }[]>;
}

export function createRedriveNotes(bucket: Bucket): RedriveNotes {
  return {
    async note(tasks) {
      const name = nuid.next();
      await bucket.create(keys.redrive(name), encodeJson(tasks.map(({ run, id }) => [run, id])));
      return name;
    },
    async forget(name) {
      const entry = await bucket.get(keys.redrive(name));
      if (!entry) return;
      await bucket
        .purge(entry.key, { expect: entry.revision, markerTtlMs: 60_000 })
        .catch((error: unknown) => {
          if (!isConflict(error)) throw error; // somebody else has forgotten it
        });
    },
    async list() {
      return (await bucket.list(keys.allRedrives)).map(({ key, value, storedAt }) => ({
        name: key.slice(keys.redrive('').length),
        at: storedAt,
        tasks: (decode(value) as [string, string][]).map(([run, id]) => ({ run, id })),
      }));
    },
  };
}
