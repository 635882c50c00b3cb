/**
 * Files of NDJSON or CSV: `<name>-000001.ndjson`, `<name>-000002.ndjson`, …, and `<name>.position.json` beside them.
 *
 * The position says how many bytes of which file are committed, and up to which sequence of the ledger. A batch is
 * written behind the committed bytes and synced, then the position is replaced. After a crash the file is cut to
 * its committed bytes, files that are not in the position yet are removed, and reading goes on behind its sequence.
 * Each ledger has a position of its own: what comes from another one goes into the next file, and what is there stays.
 * With gzip each write is a member of its own: a file of members is a whole gzip file wherever a commit ended it.
 */
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Failure, messageOf } from '../domain/failure.ts';
import { AT_THE_START, type Checkpoint, type FileSink } from '../domain/sink.ts';
import { decideSinkStart, type Beginning, type SinkStart } from '../policy/sink-start.ts';
import { createCsvLines, createNdjsonLines, type LineWriter } from './lines.ts';
import { readPosition, syncFolder, writePosition, type FilePosition } from './position-file.ts';
import { createAsideFile } from './put-aside.ts';
import { decideRotation } from './rotation.ts';
import type { SinkRow } from './row.ts';
import type { SinkTarget } from './target.ts';

const compress = promisify(gzip);
const WRITE_LIMITS = { rows: 5_000, bytes: 4 * 1024 * 1024 };
/** Ledgers that it can come back to. */
const EARLIER_MAX = 1_000;

interface Current {
  handle: FileHandle;
  file: number;
  bytes: number;
  openedAt: number;
}

export function createFileTarget(
  spec: FileSink & { readonly name: string },
  now: () => number = Date.now,
): SinkTarget {
  const { name, path: folder } = spec;
  const ending = `${spec.type}${spec.gzip ? '.gz' : ''}`;
  const positionPath = join(folder, `${name}.position.json`);
  const ours = new RegExp(`^${name}-(\\d{6,})\\.(ndjson|csv)(\\.gz)?$`);
  const aside = createAsideFile(join(folder, `${name}.rejected.ndjson`));
  let lines: LineWriter = createLines([]);
  let last = 0; // the number of the newest file
  let current: Current | undefined;
  let earlier: FilePosition['earlier'] = [];
  let life: string | undefined;

  return {
    limits: WRITE_LIMITS,
    remembers: 'itself',
    open: (beginning) => explained(() => begin(beginning)),
    write: (rows) => explained(() => write(rows)),
    putAside: (rejected) => explained(() => aside.add(rejected, life)),
    commit: (checkpoint) => explained(() => commit(checkpoint)),
    startOver: (checkpoint, replay) => explained(() => startOver(checkpoint, replay)),
    close: end,
  };

  function createLines(columns: readonly string[]): LineWriter {
    return spec.type === 'csv' ? createCsvLines({ chosen: spec.columns, columns }) : createNdjsonLines();
  }

  function pathOf(file: number): string {
    return join(folder, `${name}-${String(file).padStart(6, '0')}.${ending}`);
  }

  async function begin(beginning: Beginning): Promise<SinkStart> {
    await end();
    life = beginning.life.sink;
    await mkdir(folder, { recursive: true });
    const position = await readPosition(positionPath);
    const files = (await readdir(folder)).filter((file) => ours.test(file));
    if (!position) {
      if (files.length > 0)
        throw new Failure('INVALID', `${folder} has files of ${name}, but not ${name}.position.json`, {
          hint: 'Move them away, or give the sink another name or folder.',
        });
      const checkpoint = { ...AT_THE_START, ...beginning };
      await save(checkpoint);
      return { checkpoint, reason: 'goes-on' };
    }
    for (const file of files) if (Number(ours.exec(file)?.[1]) > position.file) await rm(join(folder, file));
    last = position.file;
    await resume(position);
    const { life: lived = beginning.life, seq, items, rejected, replayed } = position;
    const positions = [{ life: lived, seq, items, rejected, replayed }, ...position.earlier];
    earlier = positions.filter((one) => one.life.ledger !== beginning.life.ledger).slice(0, EARLIER_MAX);
    const start = decideSinkStart(positions, beginning);
    if (start.reason === 'forgotten') await startOver(start.checkpoint, beginning.life.sink);
    else if (start.reason !== 'goes-on') await endFile(start.checkpoint);
    return start;
  }

  /** The next row begins the next file. */
  async function endFile(checkpoint: Checkpoint): Promise<void> {
    await end();
    lines = createLines([]);
    await save(checkpoint);
  }

  /** Goes on with the file of the position, if it is as the position says. What somebody took away is theirs. */
  async function resume(position: FilePosition): Promise<void> {
    lines = createLines(position.columns);
    if (position.file === 0 || position.ending !== ending) return;
    const found = await stat(pathOf(position.file)).catch(() => undefined);
    if (!found || found.size < position.bytes) return;
    const handle = await open(pathOf(position.file), 'r+');
    if (found.size > position.bytes) await handle.truncate(position.bytes);
    const { file, bytes, openedAt } = position;
    current = { handle, file, bytes, openedAt };
  }

  async function write(rows: readonly SinkRow[]): Promise<void> {
    let text = '';
    for (const row of rows) {
      // The size of what gzip will make of it is not known before it is written.
      const bytes = (current?.bytes ?? 0) + (spec.gzip ? 0 : Buffer.byteLength(text));
      const due =
        current && decideRotation({ bytes, openedAt: current.openedAt, now: now() }, spec) !== undefined;
      let line = current && !due ? lines.line(row) : undefined;
      if (line === undefined) {
        await append(text);
        await next();
        text = lines.begin(row);
        line = lines.line(row) ?? '';
      }
      text += line;
    }
    await append(text);
  }

  async function append(text: string): Promise<void> {
    if (!current || text === '') return;
    const bytes = spec.gzip ? await compress(text) : Buffer.from(text);
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await current.handle.write(
        bytes,
        done,
        bytes.length - done,
        current.bytes + done,
      );
      done += bytesWritten;
    }
    current.bytes += bytes.length;
  }

  async function next(): Promise<void> {
    if (current) {
      await current.handle.datasync();
      await current.handle.close();
      current = undefined;
    }
    last += 1;
    const handle = await open(pathOf(last), 'wx+');
    current = { handle, file: last, bytes: 0, openedAt: now() };
    await syncFolder(folder);
  }

  async function commit(checkpoint: Checkpoint): Promise<void> {
    await current?.handle.datasync();
    await save(checkpoint);
  }

  async function save({ life, seq, items, rejected, replayed }: Checkpoint): Promise<void> {
    // Without an ending it is nobody's: the newest file is not to be gone on with, and so not to be cut.
    const { bytes = 0, openedAt = 0 } = current ?? {};
    const where = { file: last, ending: current ? ending : '', bytes, openedAt };
    const known = { life, seq, items, rejected, replayed, earlier };
    await writePosition(positionPath, { v: 1, ...known, ...where, columns: [...lines.columns()] });
  }

  /** What was written before stays, in a folder of its own: what it came from may be gone from the ledger. */
  async function startOver(checkpoint: Checkpoint, replay: string): Promise<void> {
    await end();
    const old = join(folder, `${name}.before-${replay}`);
    await mkdir(old, { recursive: true });
    for (const file of await readdir(folder))
      if (ours.test(file)) await rename(join(folder, file), join(old, file));
    await aside.moveTo(join(old, `${name}.rejected.ndjson`));
    last = 0;
    await endFile(checkpoint);
  }

  async function end(): Promise<void> {
    const closing = current;
    current = undefined;
    await closing?.handle.close();
  }

  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure('UNAVAILABLE', `the files in ${folder} cannot be written: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}
