/** `make docs`: writes the dashboards into config/grafana. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import { DASHBOARD_FOLDER, dashboardFiles } from './all.ts';

mkdirSync(join(projectRoot, DASHBOARD_FOLDER), { recursive: true });
for (const { file, content } of dashboardFiles())
  writeFileSync(join(projectRoot, file), `${JSON.stringify(content, null, 2)}\n`);
