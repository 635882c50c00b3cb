/**
 * The file of what a sink refused: one JSON line each, in the order of the ledger, none of them twice. A sequence means
 * nothing in another life of the sink, so each line says of which it is.
 */
import { open, rename, type FileHandle } from 'node:fs/promises';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Rejected } from './row.ts';

export interface AsideFile {
  add(rejected: readonly Rejected[], life: string | undefined): Promise<void>;
  moveTo(path: string): Promise<void>;
}

interface Place {
  readonly seq: number;
  readonly n: number;
}

type End = Place & { readonly life?: string | undefined };

/** No file is made before there is something to put into it. */
export function createAsideFile(path: string): AsideFile {
  let last: End | undefined;

  return {
    async add(rejected, life) {
      if (rejected.length === 0) return;
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, 'a+');
      try {
        last ??= await findEnd(file);
        const known = last.life === life ? last : NOTHING;
        const news = rejected.filter((each) => isAfter(placeOf(each), known));
        await file.appendFile(news.map((each) => renderRejected(each, life)).join(''));
        await file.datasync();
        last = { ...(news.map(placeOf).at(-1) ?? known), life };
      } finally {
        await file.close();
      }
    },
    async moveTo(target) {
      last = undefined;
      await rename(path, target).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      });
    },
  };
}

export function renderRejected({ seq, n, run, task, row, problem }: Rejected, life?: string): string {
  const head = JSON.stringify({ life, seq, n, run, task, kind: row?.kind, scraper: row?.scraper, problem });
  return row ? `${head.slice(0, -1)},"item":${row.json}}\n` : `${head}\n`;
}

function placeOf({ seq, n = -1 }: Rejected): Place {
  return { seq, n };
}

function isAfter(place: Place, known: Place): boolean {
  return place.seq > known.seq || (place.seq === known.seq && place.n > known.n);
}

const NOTHING: Place = { seq: 0, n: -1 };
const READ_BYTES = 64 * 1024;

/** The place of the last whole line; what comes after it was cut short by a crash, and is removed. */
async function findEnd(file: FileHandle): Promise<End> {
  const { size } = await file.stat();
  const end = await findLineEnd(file, size);
  if (end < size) await file.truncate(end);
  if (end === 0) return NOTHING;
  const from = await findLineEnd(file, end - 1);
  const text = Buffer.alloc(end - from);
  await file.read(text, 0, text.length, from);
  const { life, seq, n = -1 } = JSON.parse(text.toString()) as { life?: string; seq: number; n?: number };
  return { life, seq, n };
}

/** Where the line that ends before `before` ends: behind the last newline. */
async function findLineEnd(file: FileHandle, before: number): Promise<number> {
  const buffer = Buffer.alloc(READ_BYTES);
  for (let end = before; end > 0;) {
    const from = Math.max(0, end - READ_BYTES);
    await file.read(buffer, 0, end - from, from);
    const found = buffer.subarray(0, end - from).lastIndexOf(0x0a);
    if (found !== -1) return from + found + 1;
    end = from;
  }
  return 0;
}
