/** The path of a program that one of the project's scripts finds or fetches. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Failure, type FailureCode } from '../domain/failure.ts';
import type { Report } from './progress.ts';

const FETCH_MAX_MS = 300_000;
const SAID_MAX_LINES = 20;

export interface Wanted {
  readonly name: string;
  readonly script: string;
  readonly hint: string;
  /** What it is when there is none. */
  readonly code: FailureCode;
}

export async function findProgram(
  { name, script, hint, code: lacking }: Wanted,
  report: Report,
): Promise<string> {
  const child = spawn('sh', [script], { stdio: ['ignore', 'pipe', 'pipe'], timeout: FETCH_MAX_MS });
  const said: string[] = [];
  let path = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (path += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((part) => part.trim() !== '')) {
      said.push(line);
      if (said.length > SAID_MAX_LINES) said.shift();
      report({ step: 'fetching', text: line });
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0 && path.trim() !== '') return path.trim();
  throw new Failure(lacking, `no ${name} is to be had\n  ${said.join('\n  ')}`, { hint });
}
