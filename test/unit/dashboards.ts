/** The dashboards and what provisions them: held to their source, to Grafana's form and to the metrics that exist. */
import t, { type Test } from 'tap';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { DASHBOARD_FOLDER, dashboardFiles } from '../../src/dashboards/all.ts';
import { projectRoot } from '../../src/project-root.ts';
import { COMMON_LABELS, knownSeries } from '../kit/metric-names.ts';
import { groupingsIn, seriesIn } from '../kit/promql.ts';
import { recordedSeries } from '../kit/rule-files.ts';
import type { GrafanaDashboard, GrafanaPanel } from '../kit/grafana.ts';

const known = knownSeries();
const recorded = new Set(recordedSeries());
const read = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');
const VARIABLE = '${datasource}';

t.test('the files are what `make docs` writes', async (t) => {
  const files = dashboardFiles();
  t.strictSame(
    readdirSync(join(projectRoot, DASHBOARD_FOLDER)).sort(),
    files.map(({ file }) => file.slice(DASHBOARD_FOLDER.length + 1)).sort(),
  );
  for (const { file, content } of files) t.strictSame(JSON.parse(read(file)), content, file);
});

for (const { file } of dashboardFiles()) {
  t.test(file, async (t) => {
    const dashboard = JSON.parse(read(file)) as GrafanaDashboard;
    t.match(dashboard, { title: /^Trawl: /, tags: ['trawl'], schemaVersion: 39 });
    t.notOk('uid' in dashboard || 'id' in dashboard, 'Grafana gives it an id of its own');
    t.notOk(
      read(file).includes('"uid": "') && /"uid": "(?!\$\{datasource\})/.test(read(file)),
      'no data source by uid',
    );
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    t.ok(panels.length >= 10, `${panels.length} panels`);
    const ids = dashboard.panels.map(({ id }) => id);
    t.equal(new Set(ids).size, ids.length, 'every panel has an id of its own');
    for (const panel of panels) checkPanel(t, panel);
    checkGrid(t, dashboard.panels);
    checkVariables(t, dashboard);
    for (const { name, expr, datasource } of dashboard.annotations.list) {
      t.equal(datasource.uid, VARIABLE, name);
      checkExpression(t, expr, name);
    }
    t.match(
      dashboard.annotations.list.map(({ name, enable }) => `${name} ${enable}`),
      ['Scaling true', 'Runs true', 'Alerts true'],
    );
  });
}

function checkPanel(t: Test, { title, fieldConfig, datasource, targets }: GrafanaPanel): void {
  t.equal(datasource?.uid, VARIABLE, title);
  t.ok(fieldConfig?.defaults.unit, `${title} has a unit`);
  t.ok(targets && targets.length > 0, `${title} asks something`);
  t.strictSame(
    targets?.map(({ refId }) => refId),
    targets?.map((_, index) => 'ABCDEFGH'[index]),
    `${title}: refIds`,
  );
  for (const { expr, legendFormat, datasource: own } of targets ?? []) {
    t.equal(own.uid, VARIABLE, title);
    checkExpression(
      t,
      expr,
      title,
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
    );
  }
}

/** Series that exist, labels that they have, and in the legend only labels that are left. */
function checkExpression(t: Test, expr: string, where: string, legend: readonly string[] = []): void {
  const asked = seriesIn(expr);
  t.ok(asked.length > 0, `${where} asks for a series`);
  const labels = new Set(COMMON_LABELS);
  for (const { series, labels: matched } of asked) {
    const facts = known.get(series);
    t.ok(facts ?? recorded.has(series), `${where}: ${series} exists`);
    for (const label of facts?.labels ?? []) labels.add(label);
    for (const label of matched)
      t.ok([...COMMON_LABELS, ...(facts?.labels ?? [])].includes(label), `${where}: ${series} has ${label}`);
  }
  const groups = groupingsIn(expr);
  for (const label of [...groups, ...legend]) t.ok(labels.has(label), `${where}: label ${label}`);
  if (groups.length > 0)
    for (const label of legend) t.ok(groups.includes(label), `${where}: ${label} is left`);
}

function checkVariables(t: Test, { templating }: GrafanaDashboard): void {
  const [source, ...rest] = templating.list;
  t.match(source, { name: 'datasource', type: 'datasource', query: 'prometheus' });
  for (const variable of rest) {
    const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(variable.definition ?? '') ?? [];
    checkExpression(t, series, variable.name, [label]);
    t.equal(variable.datasource?.uid, VARIABLE);
  }
}

function checkGrid(t: Test, panels: readonly GrafanaPanel[]): void {
  const cells = new Set<string>();
  for (const { title, gridPos } of panels) {
    t.ok(gridPos.x + gridPos.w <= 24, `${title} fits`);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        if (cells.has(`${x}/${y}`)) t.fail(`${title} lies over another panel`);
        cells.add(`${x}/${y}`);
      }
  }
}

t.test('provisioning', async (t) => {
  const folder = 'config/grafana/provisioning';
  t.strictSame(parse(read(`${folder}/datasources/trawl.yaml`)), {
    apiVersion: 1,
    datasources: [
      {
        name: 'Prometheus (Trawl)',
        type: 'prometheus',
        access: 'proxy',
        url: '${PROMETHEUS_URL}',
        editable: true,
        jsonData: { httpMethod: 'POST', timeInterval: '15s' },
      },
    ],
  });
  t.match(parse(read('config/prometheus/prometheus.yml')), { global: { scrape_interval: '15s' } });
  t.match(parse(read(`${folder}/dashboards/trawl.yaml`)), {
    apiVersion: 1,
    providers: [{ name: 'trawl', type: 'file', options: { path: '${TRAWL_DASHBOARDS}' } }],
  });
});
