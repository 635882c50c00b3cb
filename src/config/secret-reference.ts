/** Follows `env:NAME` and `file:/path`, so that no file, command line or process list holds a secret itself. */
import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Parsed } from './parsers.ts';

export interface SecretContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Files and command lines are read by many; only the environment may hold the value itself. */
  readonly literalAllowed: boolean;
  /** The setting's own variable, for the advice. */
  readonly variable: string;
}

const FILE_MAX_BYTES = 64 * 1024;

/** The text of the secret. No answer repeats any part of it. */
export function followReference(text: string, context: SecretContext): Parsed<string> {
  const name = /^env:([A-Za-z_]\w*)$/.exec(text)?.[1];
  if (name !== undefined) return readVariable(name, context);
  if (/^file:./.test(text)) return readSecretFile(text.slice('file:'.length), context.cwd);
  if (context.literalAllowed) return { ok: true, value: text };
  return refuse(
    `is a secret, which must not be written here; write env:NAME or file:/path, or set ${context.variable}`,
  );
}

function readVariable(name: string, { env }: SecretContext): Parsed<string> {
  const value = env[name];
  if (value === undefined || value === '')
    return refuse(`refers to the environment variable ${name}, which is not set`);
  return { ok: true, value };
}

function readSecretFile(path: string, cwd: string): Parsed<string> {
  const buffer = Buffer.alloc(FILE_MAX_BYTES + 1);
  let length = 0;
  try {
    const file = openSync(resolve(cwd, path), 'r');
    try {
      // One byte past the limit is enough to know; a pipe or device never fills more than the buffer.
      for (let count = -1; count !== 0 && length < buffer.length; length += count)
        count = readSync(file, buffer, length, buffer.length - length, null);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    return refuse(`refers to the file ${path}, which cannot be read (${reason})`);
  }
  if (length > FILE_MAX_BYTES)
    return refuse(
      `refers to the file ${path}, which is too large for a secret (over ${FILE_MAX_BYTES} bytes)`,
    );
  // Editors and `echo` end a file with a line break that is no part of the secret.
  const value = buffer.toString('utf8', 0, length).replace(/[\r\n]+$/, '');
  if (value === '') return refuse(`refers to the file ${path}, which is empty`);
  return { ok: true, value };
}

function refuse(problem: string): Parsed<never> {
  return { ok: false, problem };
}
