/** What is installed beside the bench. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/project-root.ts';

export function packageVersion(name: string): string {
  const file = join(projectRoot, 'test/bench/node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
