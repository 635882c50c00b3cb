/** Reads the file of settings, where there is one. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isUtf8 } from 'node:buffer';
import { parseSettings, type FileSettings } from './parse-settings.ts';

const FILE_MAX_BYTES = 1024 * 1024;

export interface SettingsPath {
  readonly path: string;
  readonly cwd: string;
  /** The flag or variable that names the file. Nobody named the usual one, so it may be absent. */
  readonly namedBy: string | undefined;
}

export function readSettingsFile({ path, cwd, namedBy }: SettingsPath): FileSettings {
  const start = namedBy === undefined ? path : `${namedBy}: ${path}`;
  let content: Buffer;
  try {
    content = readFileSync(resolve(cwd, path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    if (absent && namedBy === undefined) return { given: new Map(), problems: [] };
    return refuse(`${start}: ${absent ? 'there is no such file' : `the file cannot be read (${code})`}`);
  }
  if (content.length > FILE_MAX_BYTES) return refuse(`${start}: the file is over ${FILE_MAX_BYTES} bytes`);
  if (!isUtf8(content)) return refuse(`${start}: the file is not UTF-8 text`);
  return parseSettings(content.toString('utf8'), path);
}

function refuse(problem: string): FileSettings {
  return { given: new Map(), problems: [problem] };
}
