/** What the README says about watching and deploying: of files, alerts and targets that there are. */
import t from 'tap';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards } from '../../src/dashboards/all.ts';
import { projectRoot } from '../../src/project-root.ts';
import { knownSeries } from '../kit/metric-names.ts';
import { commandsOf, sectionOf } from '../kit/readme.ts';
import { readRules, recordedSeries } from '../kit/rule-files.ts';

const known = knownSeries();

t.test('watching it', async (t) => {
  const text = sectionOf('Watching it');
  // These are run by test/e2e/observe.ts.
  t.strictSame(commandsOf('Watching it'), ['make cluster-up', 'make observe']);
  t.strictSame(
    [...text.matchAll(/^\| `(Trawl\w+)` \|/gm)].map(([, name]) => name),
    readRules('alerts.yml').map(({ alert }) => alert),
    'every alert, in the order of its file',
  );
  for (const [, name = ''] of text.matchAll(/`(trawl:\w+)`/g)) t.ok(recordedSeries().includes(name), name);
  for (const [, name = ''] of sectionOf('Metrics').matchAll(/`(trawl_\w+)`/g))
    t.ok(known.has(name) || known.has(`${name}_bucket`), name);
  for (const { title } of dashboards) t.match(text, title.replace('Trawl: ', ''));
});

t.test('deploying: each command needs what its words say, and names files that are there', async (t) => {
  const text = sectionOf('Deploying');
  const programs = new Set(commandsOf('Deploying').map((command) => command.split(' ')[0] ?? ''));
  t.strictSame([...programs].sort(), ['cp', 'docker', 'helm', 'kubectl', 'mkdir', 'openssl', 'systemctl']);
  for (const block of text.split('```sh').slice(0, -1))
    t.match(
      block.trimEnd().split('\n').at(-1),
      /^\*\*\w+\*\* \(needs .*\):$/,
      'what a block needs stands before it',
    );
  for (const command of commandsOf('Deploying'))
    for (const [file] of command.matchAll(/config\/[\w./@-]+/g))
      if (!file.includes('secrets'))
        t.ok(existsSync(join(projectRoot, file.replace(/systemd\/trawl$/, 'systemd'))), file);
  const folders = ['k8s', 'docker', 'systemd', 'nginx'];
  for (const folder of folders) t.ok(text.includes(`config/${folder}/`), folder);
  for (const place of readdirSync(join(projectRoot, 'config/k8s')).filter((name) =>
    name.startsWith('scale-with'),
  ))
    t.ok(text.includes(`config/k8s/${place}`), place);
});

t.test('make lists it', async (t) => {
  t.match(readFileSync(join(projectRoot, 'Makefile'), 'utf8'), /^observe: .*## Run Prometheus/m);
});
