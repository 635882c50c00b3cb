/** `make build`, second part: the program as few files, because the start of each actor and command reads all of them. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../program.ts';
import { projectRoot } from '../project-root.ts';
import { joinFiles, linkFiles } from './join-files.ts';

/** By the name of its file in the program. */
const entries = {
  main: 'cli/main',
  index: 'index',
  testing: 'testing/test-scraper',
  'module-hooks': 'scrapers/module-hooks',
};

const options = { entries, compiled: join(projectRoot, 'dist/src'), into: program.folder };
if (!(await joinFiles(options))) linkFiles(options);
chmodSync(program.main, 0o755);
