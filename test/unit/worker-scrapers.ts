/** Loading scrapers from a folder, and finding them by name. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import * as v from 'valibot';
import { loadScrapers } from '../../src/scrapers/load.ts';
import { noop } from '../../src/scrapers/noop.ts';
import { createRegistry } from '../../src/scrapers/registry.ts';
import type { Scraper, ScraperContext } from '../../src/scrapers/scraper.ts';
import { parseScraper } from '../../src/scrapers/scraper-shape.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

t.test('good files load beside broken ones', async (t) => {
  const folder = temporaryFolder(t);
  const files = {
    'a-default.mjs': `export default { name: 'first', retries: 1, async run() { return this.name } }`,
    'b-named.mjs': `export const scraper = { name: 'second', timeoutMs: 5, run: async () => 2 }`,
    'c-syntax.mjs': `export default {`,
    'd-throws.mjs': `throw new Error('at import')`,
    'e-nothing.mjs': `export const other = 1`,
    'f-shape.mjs': `export default { name: 'no good', retries: -1, run: 7 }`,
    'g-again.mjs': `export default { name: 'first', run: async () => 3 }`,
    'h-text.txt': `not a module`,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const { scrapers, problems } = await loadScrapers(folder);
  t.same(
    scrapers.map(({ name }) => name),
    ['first', 'second'],
  );
  t.same(
    problems.map(({ file }) => basename(file)),
    ['c-syntax.mjs', 'd-throws.mjs', 'e-nothing.mjs', 'f-shape.mjs', 'g-again.mjs'],
  );
  const reasons = new Map(problems.map(({ file, reason }) => [basename(file), reason]));
  t.equal(reasons.get('d-throws.mjs'), 'line 1: at import');
  t.match(reasons.get('c-syntax.mjs'), /^line 1: Unexpected/);
  t.match(reasons.get('e-nothing.mjs'), /exports no scraper/);
  t.match(reasons.get('f-shape.mjs'), /name must be .*; retries must not be negative; .*function run/);
  t.match(reasons.get('g-again.mjs'), /a-default\.mjs has a scraper of the same name/);
});

t.test('what a scraper says about fetching is checked when it is loaded', async (t) => {
  const folder = temporaryFolder(t);
  const say = (name: string, text: string): void =>
    writeFileSync(join(folder, `${name}.mjs`), `export default { name: '${name}', run() {}, ${text} }`);
  say(
    'good',
    `egress: { via: 'proxy', session: true }, limits: { delayMs: 5, egressCaps: { perHour: 1, perMinute: 0 } },
    robots: false, blocks: [{ body: 'captcha|wall' }], validate: () => true, classify() {}`,
  );
  say('via', `egress: { via: 'tunnel' }`);
  say('word', `egress: { seession: true }`);
  say('limit', `limits: { delay: 5 }`);
  say('negative', `limits: { delayMs: -1 }`);
  say('pattern', `blocks: [{ body: '(' }]`);
  say('hook', `validate: true`);
  say('schema', `input: { page: 'number' }`);
  say('timeout', `timeout: '5m'`);
  say('crawl', `crawl: { deepth: 3 }`);
  say('link', `crawl: { include: [7] }`);
  const { scrapers, problems } = await loadScrapers(folder);
  t.same(
    scrapers.map(({ name }) => name),
    ['good'],
  );
  const reasons = new Map(problems.map(({ file, reason }) => [basename(file), reason]));
  t.match(reasons.get('via.mjs'), 'egress.via must be one of auto, direct, proxy');
  t.match(reasons.get('word.mjs'), 'egress has no seession');
  t.match(reasons.get('limit.mjs'), 'limits has no delay');
  t.match(reasons.get('negative.mjs'), 'limits.delayMs must not be negative');
  t.match(reasons.get('pattern.mjs'), /block rule 1 cannot be read/);
  t.match(reasons.get('hook.mjs'), 'validate must be a function');
  t.match(reasons.get('schema.mjs'), 'input must be a schema');
  t.match(reasons.get('timeout.mjs'), 'timeout is for defineScraper');
  t.match(reasons.get('crawl.mjs'), 'crawl has no deepth');
});

t.test('a word that no scraper has is told, with the one that was probably meant', async (t) => {
  const folder = temporaryFolder(t);
  const files = {
    'retires.mjs': `export default { name: 'retires', retires: 0, run() {} }`,
    'two.mjs': `export default { name: 'two', crawls: {}, colour: 1, retries: -1, run() {} }`,
    'nested.mjs': `export default { name: 'nested', egress: { seession: true }, limits: { delayms: 1 }, run() {} }`,
    'defined.mjs': `import { defineScraper } from 'trawl';
export default defineScraper({ name: 'defined', time_out: '5m', run() {} });`,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const { scrapers, problems } = await loadScrapers(folder);
  t.same(scrapers, []);
  t.same(Object.fromEntries(problems.map(({ file, reason }) => [basename(file), reason])), {
    'retires.mjs': 'a scraper has no retires; did you mean retries?',
    'two.mjs':
      'retries must not be negative; a scraper has no crawls; did you mean crawl?; a scraper has no colour',
    'nested.mjs':
      'egress has no seession; did you mean session?; limits has no delayms; did you mean delayMs?',
    'defined.mjs': 'a scraper has no time_out; did you mean timeout?',
  });
});

t.test('all that a scraper may say passes, and what an object of a class keeps for itself', async (t) => {
  const schema = v.object({});
  const all: Required<Scraper> = {
    name: 'all',
    mode: 'distributed',
    timeoutMs: 1,
    retries: 0,
    egress: {
      via: 'auto',
      whenNone: 'fail',
      select: 'lru',
      exclusive: true,
      session: true,
      stickTo: () => 'key',
    },
    limits: {
      perHour: 1,
      perMinute: 1,
      delayMs: 1,
      egressDelayMs: 1,
      jitter: 0.5,
      concurrency: 1,
      egressCaps: { perHour: 1, perMinute: 1 },
    },
    robots: true,
    engine: 'http',
    start: ['https://site.test/'],
    input: schema,
    item: schema,
    crawl: {
      include: ['*'],
      exclude: ['*/x'],
      depth: 1,
      within: 'site',
      pagesPerRun: 1,
      pagesPerHost: 1,
      dropTracking: true,
    },
    blocks: [{ body: 'captcha' }],
    setup: () => 1,
    teardown: () => undefined,
    classify: () => undefined,
    validate: () => true,
    isSessionValid: () => true,
    refreshSession: async () => undefined,
    run: async () => undefined,
  };
  t.equal(parseScraper(all), all);
  class Counting implements Scraper {
    readonly name = 'counting';
    private count = 0;
    async run(): Promise<number> {
      return (this.count += 1);
    }
  }
  const counting = parseScraper(new Counting());
  t.equal(await counting.run({} as ScraperContext), 1);
});

t.test('a folder that is not there is a problem, not a crash', async (t) => {
  const { scrapers, problems } = await loadScrapers(join(temporaryFolder(t), 'none'));
  t.same(scrapers, []);
  t.match(problems[0]?.reason, /no folder that can be read, and no package: ENOENT/);
});

t.test('the first of a name wins', async (t) => {
  const own = { name: 'noop', run: async () => 'mine' };
  const registry = createRegistry([own, { name: 'a', run: async () => 1 }, noop]);
  t.equal(registry.find('noop'), own);
  t.equal(registry.find('none'), undefined);
  t.same(registry.names(), ['a', 'noop']);
});
