/** Imports point one way; this test is the list of ways. */
import t from 'tap';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';

const source = join(projectRoot, 'src');

/** Which folders of src/ a folder may import from, besides itself. `.` is the top of src/. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  policy: ['domain', 'wire'],
  wire: ['domain'],
  telemetry: ['domain'],
  runtime: ['domain', 'policy', 'telemetry'],
  config: ['domain', '.'],
  sinks: ['domain', 'policy', 'http'],
  actors: ['domain', 'policy', 'wire', 'runtime', 'scrapers', 'sinks', 'telemetry'],
  nats: ['domain', 'policy', 'wire', 'runtime', 'telemetry'],
  http: ['domain', 'policy', 'telemetry'],
  browser: ['domain', 'policy', 'runtime', 'telemetry', 'http'],
  scrapers: ['domain', 'policy', 'wire', 'runtime', 'telemetry', 'extract', '.'],
  bundle: ['.'],
  fetch: ['domain', 'policy', 'wire', 'runtime', 'telemetry', 'scrapers', 'http', 'browser'],
  services: ['domain', 'policy', 'wire', 'runtime', 'telemetry', 'nats'],
  client: ['domain', 'policy', 'wire', 'telemetry', 'config', 'nats', 'local', '.'],
  extract: ['domain', 'policy'],
  templates: ['domain', 'policy', 'config', 'extract', 'scrapers'],
  testing: [
    'domain',
    'policy',
    'wire',
    'runtime',
    'telemetry',
    'config',
    'scrapers',
    'actors',
    'http',
    'fetch',
    'cluster',
    'templates',
  ],
  dashboards: ['.'],
  'demo-site': ['domain', 'runtime'],
  local: ['domain', 'policy', 'runtime', 'telemetry', '.'],
  drivers: ['domain', 'policy', 'http', 'local'],
  cluster: [
    'domain',
    'policy',
    'wire',
    'runtime',
    'telemetry',
    'config',
    'actors',
    'services',
    'scrapers',
    'nats',
    'http',
    'fetch',
    'browser',
    '.',
    'sinks',
    'templates',
    'drivers',
    'local',
  ],
  cli: [
    'domain',
    'policy',
    'wire',
    'runtime',
    'telemetry',
    'config',
    'nats',
    'http',
    'local',
    'client',
    'cluster',
    'demo-site',
    '.',
    'sinks',
    'scrapers',
    'testing',
  ],
  '.': ['client', 'cluster', 'config', 'domain', 'scrapers'],
};

/** Packages that one folder alone may import. */
const OWNED: Readonly<Record<string, string>> = {
  '@nats-io/': 'nats',
  undici: 'http',
  'playwright-core': 'browser',
  yargs: 'cli',
  'prom-client': 'telemetry',
  msgpackr: 'wire',
  yaml: 'config',
  postgres: 'sinks',
};

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

t.test('imports point one way', async (t) => {
  t.ok(files.length > 20, 'the source was found');
  for (const file of files) {
    for (const target of importsOf(file)) t.equal(problemOf(file, target), undefined, `${file} → ${target}`);
  }
});

t.test('only the configuration and the entry points read the environment', async (t) => {
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(join(source, file), 'utf8')));
  t.same(
    readers.filter((file) => !file.startsWith('cli/')),
    [],
  );
});

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)\b[^'"]*?from\s+'([^']+)'/gms),
    ...text.matchAll(/^import\s+'([^']+)'/gm),
    ...text.matchAll(/\bimport\('([^']+)'\)/g),
  ].map((match) => match[1] ?? '');
}

function problemOf(file: string, target: string): string | undefined {
  const from = folderOf(file);
  if (target.startsWith('node:')) return undefined;
  if (!target.startsWith('.')) {
    const owner = Object.entries(OWNED).find(
      ([name]) => target === name || (name.endsWith('/') && target.startsWith(name)),
    );
    return owner && owner[1] !== from ? `only ${owner[1]}/ may import ${target}` : undefined;
  }
  const to = folderOf(relative(source, resolve(source, dirname(file), target)));
  return to === from || MAY_IMPORT[from]?.includes(to) ? undefined : `${from}/ must not import from ${to}/`;
}

function folderOf(file: string): string {
  const first = file.split('/')[0] ?? '';
  return first === file ? '.' : first;
}
