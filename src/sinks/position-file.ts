/** Where a sink of files stands, in a file beside them: replaced as a whole, so that a crash leaves the old or the new. */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { Failure, messageOf } from '../domain/failure.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const life = v.object({ ledger: v.string(), sink: v.string() });
const checkpoint = { seq: count, items: count, rejected: count, replayed: v.optional(v.string()) };

const schema = v.object({
  v: v.literal(1),
  life: v.optional(life),
  ...checkpoint,
  /** In the ledgers that it read before this one, the newest first. */
  earlier: v.optional(v.array(v.object({ life, ...checkpoint })), []),
  /** The newest file, which is the one that is being written; 0: none yet. */
  file: count,
  /** Its name's end: another one is another file. Empty: none is being written. */
  ending: v.string(),
  /** So much of it is committed. */
  bytes: count,
  openedAt: count,
  columns: v.array(v.string()),
});

export type FilePosition = Readonly<v.InferOutput<typeof schema>>;

export async function readPosition(path: string): Promise<FilePosition | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Failure('UNAVAILABLE', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const parsed = v.safeParse(schema, parseJson(text));
  if (parsed.success) return parsed.output;
  throw new Failure('INVALID', `${path} is not the position of a sink`, {
    hint: 'Move it and the files of this sink away: then all items are written again.',
  });
}

export async function writePosition(path: string, position: FilePosition): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w');
  try {
    await file.writeFile(`${JSON.stringify(position)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** Names are only as safe as their folder. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
