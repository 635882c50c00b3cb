/** Real pages: articles and front pages of sites as they were in 2013, in the npm package htmlparser-benchmark. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeText } from '../../src/policy/decode-text.ts';
import { projectRoot } from '../../src/project-root.ts';

const folder = join(projectRoot, 'test/bench/node_modules/htmlparser-benchmark/files');

export function hasCorpus(): boolean {
  return process.env['PEERS'] !== 'no' && existsSync(folder);
}

/** The texts of the first `most` pages, in an order that is always the same. */
export function loadCorpus(most: number): string[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.html'))
    .sort()
    .slice(0, most);
  // As it comes from the network: one flat text.
  return files.map((file) => Buffer.from(decodeText(readFileSync(join(folder, file)), undefined)).toString());
}
