/** Runs what the dashboards ask against a real Prometheus, as Grafana would. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardFiles } from '../../src/dashboards/all.ts';
import { projectRoot } from '../../src/project-root.ts';
import type { GrafanaDashboard } from './grafana.ts';
import type { TestPrometheus } from './prometheus.ts';

interface Question {
  /** Dashboard, panel and query, for people. */
  readonly where: string;
  readonly expr: string;
}

interface Matrix {
  readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[];
}

const STEP_S = 1;
const BUILT_IN: Readonly<Record<string, string>> = { __rate_interval: '30s', __interval: '15s' };

/** All that panels, annotations and variables of the shipped files ask. */
export function questionsOf(kind: 'panels' | 'annotations' | 'variables'): Question[] {
  return dashboardFiles().flatMap(({ file }) => {
    const dashboard = JSON.parse(readFileSync(join(projectRoot, file), 'utf8')) as GrafanaDashboard;
    const { title, panels, annotations, templating } = dashboard;
    switch (kind) {
      case 'panels':
        return panels.flatMap((panel) =>
          (panel.targets ?? []).map(({ refId, expr }) => ({
            where: `${title} / ${panel.title} / ${refId}`,
            expr: withVariables(expr, dashboard),
          })),
        );
      case 'annotations':
        return annotations.list.map(({ name, expr }) => ({ where: `${title} / ${name}`, expr }));
      case 'variables':
        return templating.list.flatMap(({ name, definition }) => {
          const series = /^label_values\((.+), \w+\)$/.exec(definition ?? '')?.[1];
          return series === undefined ? [] : [{ where: `${title} / $${name}`, expr: series }];
        });
    }
  });
}

/** As Grafana replaces them when everything is chosen. */
function withVariables(expr: string, { templating }: GrafanaDashboard): string {
  const chosen = Object.fromEntries(templating.list.map(({ name, allValue }) => [name, allValue]));
  return expr.replaceAll(/\$(\w+)/g, (all, name: string) => BUILT_IN[name] ?? chosen[name] ?? all);
}

/** The questions that have had no number for an answer since `sinceMs`. */
export async function unanswered(
  prometheus: TestPrometheus,
  questions: readonly Question[],
  sinceMs: number,
): Promise<Question[]> {
  const empty = await Promise.all(
    questions.map(async (question) => {
      const { result } = (await prometheus.ask('/api/v1/query_range', {
        query: question.expr,
        start: String(sinceMs / 1e3),
        end: String(Date.now() / 1e3),
        step: String(STEP_S),
      })) as Matrix;
      const hasNumber = result.some(({ values }) => values.some(([, value]) => value !== 'NaN'));
      return hasNumber ? [] : [question];
    }),
  );
  return empty.flat();
}
