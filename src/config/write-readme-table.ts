/** `make docs`: writes the table of settings into README.md, and config/trawl.yaml. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import { CONFIG_FILE } from './catalogue.ts';
import { renderDefaultFile } from './default-file.ts';
import { replaceConfigTable } from './readme-table.ts';

const readme = join(projectRoot, 'README.md');

writeFileSync(join(projectRoot, CONFIG_FILE), renderDefaultFile());
writeFileSync(readme, replaceConfigTable(readFileSync(readme, 'utf8')));
