/**
 * A dashboard as Grafana's JSON. Which Prometheus it asks is a variable, so that the file fits every Grafana; ids and
 * places of the panels follow from their order.
 */
import type { Choice, Dashboard, Panel, Row } from './dashboard.ts';

const COLUMNS = 24;
const PANEL_HEIGHT = 8;
const NUMBER_HEIGHT = 4;
const SCHEMA_VERSION = 39;
const datasource = { type: 'prometheus', uid: '${datasource}' };

export function renderDashboard({ title, description, choices = [], rows }: Dashboard): object {
  return {
    title,
    description,
    tags: ['trawl'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    graphTooltip: 1, // one cross hair for all panels
    timezone: 'browser',
    time: { from: 'now-1h', to: 'now' },
    refresh: '15s',
    links: [
      {
        title: 'Trawl',
        type: 'dashboards',
        tags: ['trawl'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      },
    ],
    templating: { list: [sourceChoice, ...choices.map(renderChoice)] },
    annotations: { list: ANNOTATIONS },
    panels: placeRows(rows),
  };
}

const sourceChoice = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  current: {},
  hide: 0,
  includeAll: false,
  multi: false,
  refresh: 1,
};

function renderChoice({ name, title, series, label }: Choice): object {
  const query = `label_values(${series}, ${label})`;
  return {
    name,
    label: title,
    type: 'query',
    datasource,
    definition: query,
    query: { query, refId: name },
    current: { text: 'All', value: '$__all' },
    hide: 0,
    includeAll: true,
    allValue: '.*',
    multi: true,
    refresh: 2,
    sort: 1,
  };
}

const ANNOTATIONS = [
  annotation('Scaling', {
    color: 'purple',
    expr: 'max(changes(trawl_workers_desired[1m])) > 0',
    text: 'Another number of workers is wanted',
  }),
  annotation('Runs', {
    color: 'blue',
    expr: 'max(changes(trawl_runs{state="active"}[1m])) > 0',
    text: 'Runs have started or ended',
  }),
  annotation('Alerts', {
    color: 'red',
    expr: 'max by (alertname) (ALERTS{alertname=~"Trawl.*", alertstate="firing"})',
    text: '{{alertname}}',
  }),
];

function annotation(
  name: string,
  { color, expr, text }: { color: string; expr: string; text: string },
): object {
  return {
    name,
    datasource,
    enable: true,
    hide: false,
    iconColor: color,
    expr,
    step: '60s',
    titleFormat: name,
    textFormat: text,
  };
}

function placeRows(rows: readonly Row[]): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    let lineHeight = 0;
    for (const panel of panels) {
      if (x + panel.width > COLUMNS) {
        y += lineHeight;
        [x, lineHeight] = [0, 0];
      }
      const height = panel.kind === 'number' ? NUMBER_HEIGHT : PANEL_HEIGHT;
      placed.push({
        id: placed.length + 1,
        ...renderPanel(panel),
        gridPos: { x, y, w: panel.width, h: height },
      });
      x += panel.width;
      lineHeight = Math.max(lineHeight, height);
    }
    y += lineHeight;
  }
  return placed;
}

function renderPanel(panel: Panel): object {
  const { title, description, unit, kind, queries } = panel;
  const instant = kind === 'table';
  return {
    type: { lines: 'timeseries', stack: 'timeseries', number: 'stat', table: 'table' }[kind],
    title,
    description,
    datasource,
    fieldConfig: {
      defaults: { unit, ...(unit === 'bool' ? {} : { min: 0 }), ...thresholds(panel), ...drawing(kind) },
      overrides: [],
    },
    options: optionsOf(kind),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource,
      editorMode: 'code',
      expr,
      legendFormat: legend,
      instant,
      range: !instant,
      ...(instant ? { format: 'table' } : {}),
    })),
  };
}

function thresholds({ limits }: Panel): object {
  const steps = [
    { color: 'green', value: null },
    ...(limits
      ? [
          { color: 'orange', value: limits.warning },
          { color: 'red', value: limits.bad },
        ]
      : []),
  ];
  return { thresholds: { mode: 'absolute', steps } };
}

function drawing(kind: Panel['kind']): object {
  if (kind === 'number' || kind === 'table') return {};
  const stacked = kind === 'stack';
  return {
    custom: {
      drawStyle: 'line',
      lineWidth: 1,
      fillOpacity: stacked ? 40 : 10,
      showPoints: 'never',
      spanNulls: true,
      stacking: { mode: stacked ? 'normal' : 'none', group: 'A' },
    },
  };
}

function optionsOf(kind: Panel['kind']): object {
  switch (kind) {
    case 'number':
      return {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        colorMode: 'value',
        graphMode: 'area',
        justifyMode: 'auto',
        textMode: 'auto',
      };
    case 'table':
      return { showHeader: true };
    case 'lines':
    case 'stack':
      return {
        legend: { displayMode: 'list', placement: 'bottom', calcs: [], showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      };
  }
}
