/** The path of a nats-server that is new enough: found, or fetched by the project's script. */
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import { findProgram } from './find-program.ts';
import type { Report } from './progress.ts';

export function findNatsServer(
  report: Report,
  script = join(projectRoot, 'nats', 'get-nats-server.sh'),
): Promise<string> {
  const hint = 'Put a nats-server of 2.14 or newer on the PATH, or name it with NATS_SERVER.';
  return findProgram({ name: 'nats-server', script, hint, code: 'UNAVAILABLE' }, report);
}
