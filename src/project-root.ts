/** The folder that holds package.json, `nats/` and `config/`: two levels above the built code, one above the source. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const projectRoot = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('package.json of trawl not found above its code');
  return findRoot(parent);
}
