import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseScraperRegistry, readScraperRegistry } from '../../src/config/scraper-registry.ts';
import type { Mode } from '../../src/domain/mode.ts';
import { decideMode } from '../../src/policy/run-mode.ts';
import { projectRoot } from '../../src/project-root.ts';

t.test('what the user says, then the registry, then the scraper; absent is single', async (t) => {
  const rows: [Mode | undefined, Mode | undefined, Mode | undefined, boolean, Mode, string][] = [
    [undefined, undefined, undefined, true, 'single', 'default'],
    [undefined, undefined, 'distributed', true, 'distributed', 'scraper'],
    [undefined, 'single', 'distributed', true, 'single', 'registry'],
    [undefined, 'distributed', 'single', true, 'distributed', 'registry'],
    ['distributed', 'single', 'single', true, 'distributed', 'asked'],
    ['single', 'distributed', 'distributed', true, 'single', 'asked'],
    [undefined, undefined, undefined, false, 'distributed', 'elsewhere'],
    [undefined, 'single', undefined, false, 'single', 'registry'],
  ];
  for (const [asked, registered, own, isKnownHere, mode, reason] of rows)
    t.same(decideMode({ asked, registered, own, isKnownHere }), { mode, reason });
});

t.test('the registry of the countries', async (t) => {
  const path = 'config/examples/countries/registry.yaml';
  const registry = readScraperRegistry(path, projectRoot);
  const modes = Object.fromEntries(Object.entries(registry).map(([name, { mode }]) => [name, mode]));
  t.same(modes, {
    india: 'distributed',
    malaysia: 'distributed',
    netherlands: 'distributed',
    taiwan: 'distributed',
    argentina: 'single',
    canada_quebec: 'single',
    russia: 'single',
  });
  t.match(readFileSync(join(projectRoot, path), 'utf8'), /^# The registry/);
  const of = (name: string): Mode =>
    decideMode({ asked: undefined, registered: registry[name]?.mode, own: undefined, isKnownHere: true })
      .mode;
  t.equal(of('india'), 'distributed');
  t.equal(of('russia'), 'single');
  t.equal(of('a-country-that-is-not-in-it'), 'single');
});

t.test('a registry that is absent or empty says nothing, and a wrong one is told by line', async (t) => {
  t.same(readScraperRegistry('nowhere.yaml', projectRoot), {});
  t.same(parseScraperRegistry('# nothing yet\n', 'r.yaml'), {});
  t.same(parseScraperRegistry('shop: {}\n', 'r.yaml'), { shop: {} });
  const wrong = 'shop:\n  mode: distributd\nb c:\n  mode: single\nother:\n  modus: single\n';
  t.throws(() => parseScraperRegistry(wrong, 'r.yaml'), {
    code: 'INVALID',
    message:
      /r\.yaml:2:9: .*mode must be one of single, distributed; did you mean distributed\?[\s\S]*r\.yaml:3:1: "b c"[\s\S]*r\.yaml:6:3: there is no "modus"/,
  });
  t.throws(() => parseScraperRegistry('- a\n- b\n', 'r.yaml'), { code: 'INVALID' });
  t.throws(() => readScraperRegistry('config', projectRoot), { code: 'INVALID', message: /cannot be read/ });
});
