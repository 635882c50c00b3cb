/** Every example has settings that can be read, and scrapers that load by them. What they do is in test/e2e/examples-*.ts. */
import t from 'tap';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfiguredScrapers } from '../../src/cluster/load-scrapers.ts';
import { loadConfig } from '../../src/config/load.ts';
import { projectRoot } from '../../src/project-root.ts';

const SCRAPERS: Readonly<Record<string, readonly string[]>> = {
  countries: ['argentina', 'canada_quebec', 'india', 'malaysia', 'netherlands', 'russia', 'taiwan'],
  dmarket: ['dmarket', 'dmarket-process'],
  people: ['scrape_followers', 'scrape_profile'],
  stories: ['check_story'],
  'template-job': ['product-template'],
};
const folder = join(projectRoot, 'config/examples');

t.test('settings and scrapers', async (t) => {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  t.same(names.map(({ name }) => name).sort(), Object.keys(SCRAPERS));
  for (const [name, expected] of Object.entries(SCRAPERS)) {
    const file = join('config/examples', name, 'trawl.yaml');
    const { config } = loadConfig({ flags: {}, file, env: {}, cwd: projectRoot });
    const places = config.worker.scrapers.map((place) => join(projectRoot, place));
    const { scrapers, problems } = await loadConfiguredScrapers({
      ...config,
      worker: { ...config.worker, scrapers: places },
    });
    t.same(problems, [], name);
    t.same(scrapers.map((scraper) => scraper.name).sort(), expected);
  }
});

t.test('what the README of the examples names is there', async (t) => {
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  const named = [...text.matchAll(/config\/examples\/[\w./-]+\w/g)].map(([path]) => path);
  t.ok(named.length > 5);
  for (const path of named) t.ok(existsSync(join(projectRoot, path)), path);
  for (const name of Object.keys(SCRAPERS)) t.match(text, new RegExp(`^## ${name}: `, 'm'));
});
