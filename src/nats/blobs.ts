/**
 * What one message does not hold, in pieces: `….<run>.<task>.<upload>.<piece>`. Each upload has a name of its own, and
 * the outcome that is stored refers to one of them, so that a worker that comes too late overwrites nothing. What nobody
 * refers to is removed by the worker whose outcome is stored, and at the latest with its run.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import type { ResultBlob } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { createPublisher, type Outgoing, type Publisher } from './publisher.ts';
import { publishAll } from './publisher/all.ts';

export type BlobRef = Omit<ResultBlob, 'items'>;

interface Owner {
  readonly run: string;
  readonly id: string;
}

export interface BlobStore {
  /** Throws UNAVAILABLE when not all of it is stored. */
  put(owner: Owner, bytes: Uint8Array): Promise<BlobRef>;
  remove(owner: Owner, upload: string): Promise<void>;
  /** All uploads of the task but this one. */
  removeOthers(owner: Owner, upload: string): Promise<void>;
  close(): Promise<void>;
}

const PIECE_MAX_BYTES = 512 * 1024;
const FRAME_BYTES = 1_024;
const READ_AT_ONCE = 8;

/** Nothing is opened before the first large outcome: most workers never have one. */
export function createBlobStore(connection: Connection, names: Names): BlobStore {
  const stream = names.stream('BLOBS');
  let opening: Promise<Publisher> | undefined;

  return {
    async put(owner, bytes) {
      const upload = randomBytes(9).toString('base64url');
      const size = Math.min(PIECE_MAX_BYTES, (connection.nc.info?.max_payload ?? Infinity) - FRAME_BYTES);
      const chunks = Math.ceil(bytes.length / size);
      let problem: string | undefined;
      await publishAll(await openPublisher(), pieces(owner, { upload, bytes, size }), (_, outcome) => {
        if (outcome.kind !== 'stored') problem ??= outcome.reason;
      });
      if (problem !== undefined) {
        throw new Failure('UNAVAILABLE', `the items of a task could not be stored: ${problem}`, {
          hint: `If ${stream} is full, remove old runs (\`trawl runs rm\`) or raise its max_bytes.`,
        });
      }
      return { upload, chunks, bytes: bytes.length, sha256: hashOf([bytes]) };
    },
    remove,
    async removeOthers(owner, upload) {
      const filter = names.blob(owner, '*', '*');
      const { state } = await connection.jsm.streams.info(stream, { subjects_filter: filter });
      const uploads = Object.keys(state.subjects ?? {}).map((subject) => subject.split('.').at(-2) ?? '');
      for (const other of new Set(uploads)) if (other !== upload) await remove(owner, other);
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };

  async function remove(owner: Owner, upload: string): Promise<void> {
    await connection.jsm.streams.purge(stream, { filter: names.blob(owner, upload, '*') });
  }

  function* pieces(
    owner: Owner,
    { upload, bytes, size }: { upload: string; bytes: Uint8Array; size: number },
  ): Generator<Outgoing> {
    for (let at = 0, piece = 0; at < bytes.length; at += size, piece += 1) {
      const payload = bytes.subarray(at, at + size);
      yield { subject: names.blob(owner, upload, String(piece)), payload, repeatable: true };
    }
  }

  function openPublisher(): Promise<Publisher> {
    opening ??= createPublisher(connection, { stream, durability: 'interval' });
    opening.catch(() => (opening = undefined)); // the next one tries again
    return opening;
  }
}

/** Throws INVALID when it is not all there. */
export async function readBlob(
  { jsm }: Connection,
  names: Names,
  { owner, ref }: { owner: Owner; ref: BlobRef },
): Promise<Uint8Array> {
  const stream = names.stream('BLOBS');
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < ref.chunks; at += READ_AT_ONCE) {
    const count = Math.min(READ_AT_ONCE, ref.chunks - at);
    const some = Array.from({ length: count }, async (_, n) => {
      const subject = names.blob(owner, ref.upload, String(at + n));
      return (await jsm.streams.getMessage(stream, { last_by_subj: subject }))?.data ?? new Uint8Array();
    });
    pieces.push(...(await Promise.all(some)));
  }
  if (hashOf(pieces) === ref.sha256) return Buffer.concat(pieces);
  throw new Failure('INVALID', `the items of task ${owner.id} of run ${owner.run} are not all there`, {
    hint: 'The run may have been removed meanwhile.',
  });
}

function hashOf(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('base64url');
}
