/** Where the built program is: few files, written by `bundle/`, that hold everything they need. */
import { join } from 'node:path';
import { projectRoot } from './project-root.ts';

const folder = join(projectRoot, 'dist/program');

export const program = {
  folder,
  main: join(folder, 'main.js'),
  /** What `import 'trawl'` and `import 'trawl/testing'` mean. */
  index: join(folder, 'index.js'),
  testing: join(folder, 'testing.js'),
  moduleHooks: join(folder, 'module-hooks.js'),
} as const;
