/** Lines of NDJSON on stdout. A pipe cannot be asked what came through: what was under way at a crash comes again. */
import { once } from 'node:events';
import type { Rejected } from './row.ts';
import { renderRow } from './row.ts';
import { renderRejected } from './put-aside.ts';
import type { SinkTarget } from './target.ts';

export interface TextStream {
  write(text: string): boolean;
}

export function createStdoutTarget(
  out: TextStream & NodeJS.EventEmitter = process.stdout,
  err: TextStream = process.stderr,
): SinkTarget {
  return {
    limits: { rows: 500, bytes: 1024 * 1024 },
    remembers: 'nothing',
    open: () => Promise.resolve(undefined),
    async write(rows, { signal }) {
      if (!out.write(rows.map((row) => `${renderRow(row)}\n`).join(''))) await once(out, 'drain', { signal });
    },
    putAside(rejected: readonly Rejected[]) {
      for (const each of rejected) err.write(renderRejected(each));
      return Promise.resolve();
    },
    commit: () => Promise.resolve(),
    startOver: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
