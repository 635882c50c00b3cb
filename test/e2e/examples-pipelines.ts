/** Three of the examples, on one cluster: the market in two stages, the job without code, and people by typed tasks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import type { TaskOutcome } from '../../src/client/results.ts';
import { createTestClock, loadScraper, testScraper } from '../../src/testing/test-scraper.ts';
import { GAMES } from '../../src/demo-site/items.ts';
import { findProfile, listFollowers } from '../../src/demo-site/people.ts';
import { API_KEY, API_SECRET } from '../../src/demo-site/signature.ts';
import { example, startExampleWorld } from '../kit/example-world.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

const GAME_IDS = ['a8db', '9a92', '730'];

// Templates have no settings: the same one, with a pause that a test can wait for.
const quick = join(temporaryFolder(t), 'product-template.yaml');
const template = readFileSync(example('template-job/scrapers/product-template.yaml'), 'utf8');
writeFileSync(quick, template.replace('delay: 1s', 'delay: 50ms'));

const { site, client, call, restartWorkers } = await startExampleWorld(t, {
  scrapers: ['dmarket/scrapers', 'people/scrapers', quick],
  flags: { 'runs.maxActivePerScraper': '3' },
  env: ({ url }) => ({
    DMARKET_URL: `${url}/api/signed/items`,
    DMARKET_API_KEY: API_KEY,
    DMARKET_API_SECRET: API_SECRET,
    PEOPLE_URL: `${url}/api`,
  }),
});

async function outcomesOf(run: string): Promise<TaskOutcome[]> {
  const outcomes: TaskOutcome[] = [];
  for await (const outcome of client.results(run, { timeoutMs: 60_000 })) outcomes.push(outcome);
  return outcomes;
}

t.test('the market: three games by schedule, parsed and processed, through a restart', async (t) => {
  const { schedules } = parse(readFileSync(example('dmarket/schedules.yaml'), 'utf8')) as {
    schedules: { name: string; priority: number; params: Record<string, unknown> }[];
  };
  t.same(
    schedules.map(({ params }) => params['game']),
    GAME_IDS,
  );
  for (const definition of schedules) {
    const quicker = { ...definition, params: { ...definition.params, requestDelayMs: 30 } };
    await call('schedule.add', quicker);
    await call('schedule.pause', { name: definition.name });
  }
  // In the middle of it all workers are replaced.
  await site.until(({ path }) => path.includes('game=a8db') && /cursor=\w/.test(path));
  await restartWorkers();
  const list = await call<{ runs: { id: string; priority: number }[] }>('run.list', { scraper: 'dmarket' });
  for (const [index, name] of ['dmarket-a8db', 'dmarket-9a92', 'dmarket-730'].entries()) {
    const game = GAME_IDS[index] ?? '';
    const run = list.runs.find(({ id }) => id.startsWith(`${name}-`) || id.startsWith(`${name}_`));
    t.equal(run?.priority, index, `${name}: ${JSON.stringify(list.runs.map(({ id }) => id))}`);
    const outcomes = await outcomesOf(run?.id ?? '');
    const count = GAMES[game] ?? 0;
    const pages = Math.ceil(count / 100);
    const parsed = outcomes.filter(({ scraper }) => scraper === 'dmarket');
    t.match(parsed, [{ state: 'done', data: { game, pages, items: count } }], 'one task reads the game');
    const processed = outcomes.filter(({ scraper }) => scraper === 'dmarket-process');
    t.equal(processed.length, pages, 'one task for each page of raw items');
    const items = processed.flatMap((outcome) => outcome.items) as { kind: string; data: { id: string } }[];
    const missing = game === '730' ? 9 : 0;
    t.equal(items.length, count - missing, 'all that have a price');
    t.equal(new Set(items.map(({ data }) => data.id)).size, items.length, 'none twice');
    t.match(items[0], { kind: 'item', data: { game, currency: 'USD', price: Number, listedAt: String } });
  }
  const signed = site.log.filter(({ path }) => path.startsWith('/api/signed/items'));
  t.ok(
    signed.every(({ status, rawHeaders }) => status === 200 && !rawHeaders.includes(API_SECRET)),
    'every request was signed, and none carried the secret',
  );
});

t.test('the market: a hundred items, three of them bad', async (t) => {
  const { objects } = (await (await fetch(`${site.url}/api/items?game=730`)).json()) as { objects: object[] };
  const input = { game: '730', currency: 'USD', items: objects };
  const { tasks, run } = await client.submit(
    'dmarket-process',
    { key: 'hundred', input },
    { run: 'hundred' },
  );
  await call('run.seal', { run, messages: 1 });
  const [outcome] = await outcomesOf(run);
  t.equal(outcome?.items.length, 97);
  t.match(await call('why', { run, id: tasks[0]?.id }), {
    result: { published: 97, total: 100, errors: 3 },
  });
});

t.test('the market: pages of 100, a second apart, and parameters that are checked', async (t) => {
  const scraper = await loadScraper(example('dmarket/scrapers/dmarket.ts'));
  const page = (cursor: string): object => ({ objects: [{ itemId: cursor }], cursor });
  const clock = createTestClock();
  const { requests, data, enqueued, error } = await testScraper(scraper, {
    site: ({ url }) => ({ json: page({ '': 'b', b: 'c' }[url.searchParams.get('cursor') ?? ''] ?? '') }),
    input: { game: 'a8db' },
    clock,
  });
  t.equal(error, undefined);
  t.match(data, { pages: 3 });
  t.equal(enqueued.length, 3);
  t.ok(
    requests.every(({ url }) => url.includes('currency=USD') && url.includes('limit=100')),
    'the defaults',
  );
  const [first = 0, second = 0, third = 0] = requests.map(({ atMs }) => atMs);
  t.ok(second - first >= 1_000 && third - second >= 1_000, `${first}, ${second}, ${third}`);

  for (const [input, field] of [
    [{}, 'game'],
    [{ game: 'a8db', itemsPerPage: 'many' }, 'itemsPerPage'],
    [{ game: 'a8db', requestDelayMs: -1 }, 'requestDelayMs'],
  ] as const) {
    const { problems } = await client.submit('dmarket', { key: 'wrong', input });
    t.match(problems, [{ reason: new RegExp(field) }], field);
  }
});

t.test('the job without code: pages one after the other, with what is on them', async (t) => {
  const { limits } = parse(template) as { limits: object };
  t.same(limits, { delay: '1s', jitter: 200 }, 'from one to three seconds between two pages');
  const { run } = await client.run('product-template', [`${site.url}/catalogue`, `${site.url}/product/7`], {
    priority: 9,
  });
  const outcomes = await outcomesOf(run);
  t.same(
    outcomes.map(({ state }) => state),
    ['done', 'done', 'done', 'done'],
  );
  const items = outcomes.flatMap((outcome) => outcome.items) as { kind: string; data: object }[];
  t.equal(items.filter(({ kind }) => kind === 'listed').length, 60, 'three pages of twenty');
  const product = site.products.find(7);
  t.match(items.find(({ kind }) => kind === 'product')?.data, {
    name: product?.name,
    price: { amount: (product?.cents ?? 0) / 100 },
  });
  t.match(await call('why', { run, id: outcomes[0]?.id }), {
    result: { pages: 1, bytes: Number },
  });
  const asked = site.log.filter(({ path }) => /^\/(catalogue|product)/.test(path));
  const gaps = asked.slice(1).map(({ startMs }, index) => startMs - (asked[index]?.startMs ?? 0));
  t.ok(Math.min(...gaps) >= 45, `they are apart: ${gaps.map(Math.round).join()} ms`);
});

t.test('people: typed tasks, checked when they come, and all waited for', async (t) => {
  const refused = await client.submit('scrape_profile', { key: 'nobody', input: { name: 'ada' } });
  t.match(refused.problems, [{ reason: /username/ }], 'the field that is missing is named');
  const names = ['ada', 'goro', 'missing-person', '7'];
  const { run } = await client.run(
    'scrape_profile',
    names.map((username) => ({ key: username, input: { username } })),
  );
  const profiles = await outcomesOf(run);
  t.same(profiles.map(({ key }) => key).sort(), [...names].sort(), 'everybody is told of, found or not');
  for (const { key = '', state, items, error } of profiles) {
    const profile = findProfile(1, key);
    t.equal(state, profile ? 'done' : 'dead');
    if (profile) t.match(items, [{ kind: 'profile', data: profile }]);
    else t.match(error, { code: 'REJECTED' });
  }
  t.match(await client.waitFor(run), { state: 'done_with_errors', counts: { done: 3, dead: 1 } });

  const popular = Array.from({ length: 50 }, (_, n) => findProfile(1, `user${n}`)).find(
    (profile) => (profile?.followers ?? 0) > 1000,
  );
  if (!popular) throw new Error('nobody has that many followers');
  const all = await client.run('scrape_followers', [
    { key: 'all', input: { username: popular.id } },
    { key: 'few', input: { username: popular.id, limit: 120 } },
  ]);
  const found = new Map((await outcomesOf(all.run)).map((outcome) => [outcome.key, outcome]));
  t.equal(found.get('all')?.items.length, 1000, 'as many as the limit that nobody gave');
  t.same(
    found.get('few')?.items,
    listFollowers(1, popular, { offset: 0, limit: 120 }).map((data) => ({
      kind: 'follower',
      data: { of: popular.id, ...data },
    })),
  );
});
