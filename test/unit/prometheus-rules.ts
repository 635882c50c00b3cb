/** Rules, alerts and the questions of the panels: of metrics that exist, and such that Prometheus takes them. */
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { dashboards } from '../../src/dashboards/all.ts';
import { localConfig } from '../../src/local/prometheus.ts';
import { COMMON_LABELS, knownSeries } from '../kit/metric-names.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { needPrometheus } from '../kit/prometheus.ts';
import { groupingsIn, seriesIn } from '../kit/promql.ts';
import { readRules, recordedSeries, RULE_FOLDER } from '../kit/rule-files.ts';

const known = knownSeries();
const records = readRules('records.yml');
const alerts = readRules('alerts.yml');

t.test('the five figures that every job queue has are recorded', async (t) => {
  const wanted = ['total_jobs', 'pending_jobs', 'active_workers', 'jobs_per_second', 'error_rate'];
  t.strictSame(
    wanted.filter((name) => !recordedSeries().includes(`trawl:${name}`)),
    [],
  );
});

t.test('rules ask for what exists', async (t) => {
  const seen = new Set<string>();
  for (const { record, alert, expr } of [...records, ...alerts]) {
    const where = record ?? alert ?? '';
    const labels = new Set(COMMON_LABELS);
    for (const { series, labels: matched } of seriesIn(expr)) {
      const facts = known.get(series);
      // A rule may build on one that is evaluated before it.
      t.ok(
        facts ?? (record === undefined ? recordedSeries().includes(series) : seen.has(series)),
        `${where}: ${series}`,
      );
      for (const label of facts?.labels ?? []) labels.add(label);
      for (const label of matched)
        t.ok(
          [...COMMON_LABELS, ...(facts?.labels ?? [])].includes(label),
          `${where}: ${series} has ${label}`,
        );
    }
    for (const label of groupingsIn(expr)) t.ok(labels.has(label), `${where}: label ${label}`);
    if (record !== undefined) seen.add(record);
  }
});

t.test('every alert says how bad it is, what it means and what to do', async (t) => {
  for (const { alert = '', labels, annotations } of alerts) {
    t.match(alert, /^Trawl[A-Z]/);
    t.match(labels, { severity: /^(warning|critical)$/ }, alert);
    t.match(annotations, { summary: /\w/, description: /\w/ }, alert);
  }
});

t.test('promtool takes all of it', async (t) => {
  const promtool = needPrometheus(t, 'promtool');
  if (promtool === undefined) return;
  const run = (...words: string[]): void => {
    const { status, stdout, stderr } = spawnSync(promtool, words, { encoding: 'utf8', cwd: RULE_FOLDER });
    t.equal(status, 0, `promtool ${words.join(' ')}: ${stdout}${stderr}`);
  };
  run('check', 'config', 'prometheus.yml');
  run('check', 'rules', 'records.yml', 'alerts.yml');
  const tests = readdirSync(join(RULE_FOLDER, 'tests'));
  t.ok(tests.length >= 2);
  run('test', 'rules', ...tests.map((name) => join('tests', name)));

  const folder = temporaryFolder(t);
  const elsewhere = join(folder, 'prometheus.yml');
  const config = localConfig('127.0.0.1:12345');
  t.notMatch(config, /127\.0\.0\.1:8080/);
  t.equal(config.match(/127\.0\.0\.1:12345/g)?.length, 2);
  writeFileSync(elsewhere, config);
  run('check', 'config', elsewhere);

  // Panels are no rules; written as some, their PromQL is read by the real parser.
  const asked = dashboards.flatMap(({ rows }) =>
    rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries)),
  );
  const rules = asked.map(({ expr }, index) => ({
    record: `panel_${index}`,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(worker|host)/g, '.*'),
  }));
  const file = join(folder, 'panels.yml');
  writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
  run('check', 'rules', file);
});

t.test('every alert is in a test of its own', async (t) => {
  const text = readFileSync(join(RULE_FOLDER, 'tests/alerts.test.yml'), 'utf8');
  for (const { alert = '' } of alerts) t.ok(text.includes(`alertname="${alert}"`), alert);
});
