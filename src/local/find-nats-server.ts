/** The path of a nats-server that is new enough: found, or fetched by the project's script. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { projectRoot } from '../project-root.ts';
import type { Report } from './progress.ts';

const FETCH_MAX_MS = 300_000;
const SAID_MAX_LINES = 20;

export async function findNatsServer(
  report: Report,
  script = join(projectRoot, 'nats', 'get-nats-server.sh'),
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
  throw new Failure('UNAVAILABLE', `no nats-server is to be had\n  ${said.join('\n  ')}`, {
    hint: 'Put a nats-server of 2.14 or newer on the PATH, or name it with NATS_SERVER.',
  });
}
