/** Every dashboard, and the file of each. */
import { autoscaling } from './autoscaling.ts';
import type { Dashboard } from './dashboard.ts';
import { egress } from './egress.ts';
import { nats } from './nats.ts';
import { overview } from './overview.ts';
import { renderDashboard } from './render.ts';
import { runs } from './runs.ts';
import { workers } from './workers.ts';

export const dashboards: readonly Dashboard[] = [overview, runs, workers, egress, nats, autoscaling];

/** Below the folder of the project. */
export const DASHBOARD_FOLDER = 'config/grafana/dashboards';

export function dashboardFiles(): { readonly file: string; readonly content: object }[] {
  return dashboards.map((dashboard) => ({
    file: `${DASHBOARD_FOLDER}/${dashboard.name}.json`,
    content: renderDashboard(dashboard),
  }));
}
