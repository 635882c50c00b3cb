/** What a folder of single mode says about the run in it, so that it can be found and gone on with. */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

const schema = v.object({
  version: v.literal(1),
  run: v.string(),
  scraper: v.string(),
  createdAt: v.number(), // epoch ms
  /** Where its list was; null: it came from stdin. */
  urlsFile: v.nullable(v.string()),
  /** How its addresses are read: whoever goes on with it must read them alike. */
  dropTracking: v.exactOptional(v.boolean()),
  /** The state in which it ended; absent while there is something to go on with. */
  ended: v.exactOptional(v.string()),
});

export type SingleRecord = Readonly<v.InferOutput<typeof schema>>;

export interface SingleFolder {
  readonly folder: string;
  readonly record: SingleRecord;
}

/** Where the runs of single mode are kept that were given no folder of their own. */
export function singleFolder(home: string, run: string): string {
  return join(home, 'single', run);
}

/** Undefined where there is none, or none that this version reads. */
export function readSingleRecord(folder: string): SingleRecord | undefined {
  try {
    const parsed = v.safeParse(schema, JSON.parse(readFileSync(fileIn(folder), 'utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever reads sees the old text or the new one. Only the holder of the folder's lock writes. */
export function writeSingleRecord(folder: string, record: SingleRecord): void {
  writeFileSync(`${fileIn(folder)}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${fileIn(folder)}.new`, fileIn(folder));
}

/** The newest first. */
export function listSingleFolders(home: string): SingleFolder[] {
  const parent = join(home, 'single');
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .flatMap((name) => {
      const record = readSingleRecord(join(parent, name));
      return record ? [{ folder: join(parent, name), record }] : [];
    })
    .sort((a, b) => b.record.createdAt - a.record.createdAt);
}

function fileIn(folder: string): string {
  return join(folder, 'single.json');
}
