/**
 * Story checks in batches: every check through a proxy that is signed in, 50 requests of a proxy in any hour, and the next batch
 * when the one before it has ended. What the site saw decides.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { findProfile, listStories } from '../../src/demo-site/people.ts';
import { openFakeProxy } from '../kit/demo-world.ts';
import { example, startExampleWorld } from '../kit/example-world.ts';
import { untilSo } from '../kit/small-cluster.ts';

const PER_BATCH = 20;
const TOO_MANY = 45;
const PER_HOUR = 50;
const HOUR_MS = 3_600_000;

interface Settings {
  readonly worker: { readonly concurrency: number };
  readonly egress: Readonly<Record<string, string | number>>;
  readonly runs: { readonly maxActivePerScraper: number };
}

// The settings that come with the example, and its pace in milliseconds instead of seconds.
const settings = parse(readFileSync(example('stories/trawl.yaml'), 'utf8')) as Settings;
t.match(settings, {
  worker: { concurrency: 3 },
  egress: { perHour: PER_HOUR, whenNone: 'wait', selection: 'lru' },
  runs: { maxActivePerScraper: 1 },
});
const { site, client, call } = await startExampleWorld(t, {
  scrapers: ['stories/scrapers'],
  flags: {
    'worker.concurrency': String(settings.worker.concurrency),
    'runs.maxActivePerScraper': String(settings.runs.maxActivePerScraper),
    ...Object.fromEntries(
      Object.entries(settings.egress).map(([name, value]) => [`egress.${name}`, String(value)]),
    ),
  },
  env: ({ url }) => ({ STORIES_URL: url, STORIES_DELAY_MS: '5' }),
});

async function addProxy(number: number): Promise<void> {
  const outAddress = `127.0.0.${number + 1}`;
  site.nameAddress(outAddress, `proxy-${number}`);
  const { url } = await openFakeProxy(t, { kind: number % 2 === 1 ? 'http' : 'socks5', outAddress });
  await call('proxies.add', { url, id: `proxy-${number}` });
}

const nameOf = (batch: number, n: number): string => `member-${batch}-${n}`;
const namesOf = (batch: number, count = PER_BATCH): string[] =>
  Array.from({ length: count }, (_, n) => nameOf(batch, n));
const submit = (batch: number, count = PER_BATCH): Promise<unknown> =>
  client.run(
    'check_story',
    namesOf(batch, count).map((username) => ({ key: username, input: { username } })),
    { run: `batch-${batch}` },
  );

t.test('batches one after the other, by themselves', { timeout: 90_000 }, async (t) => {
  await addProxy(1);
  await addProxy(2);
  for (const batch of [1, 2, 3]) await submit(batch);
  const ended = [];
  for (const batch of [1, 2, 3]) {
    const { state, counts } = await client.waitFor(`batch-${batch}`, { timeoutMs: 60_000 });
    t.match({ state, counts }, { state: 'done', counts: { done: PER_BATCH, dead: 0 } }, `batch ${batch}`);
    const checked = new Map<string, unknown>();
    for await (const { key = '', items } of client.results(`batch-${batch}`)) checked.set(key, items[0]);
    for (const username of namesOf(batch)) {
      const profile = findProfile(1, username);
      const stories = profile ? listStories(1, profile).length : 0;
      t.same(checked.get(username), { username, has_story: stories > 0, stories });
    }
    ended.push(batch);
  }
  t.same(ended, [1, 2, 3]);
  const order = site.log.flatMap(({ path }) => /member-(\d)-/.exec(path)?.[1] ?? []);
  t.same(order, [...order].sort(), 'no check of a batch before all of the one before it');
});

t.test('at the limit the rest waits, and is not lost', { timeout: 90_000 }, async (t) => {
  interface Shown {
    readonly state: string;
    readonly counts: Readonly<Record<'done' | 'dead' | 'deferred', number>>;
  }
  // Two proxies have a hundred requests in an hour, and more than sixty of them are gone.
  await submit(4, TOO_MANY);
  const resting = await untilSo(
    () => call<Shown>('run.show', { run: 'batch-4' }),
    ({ counts }) => counts.done > 0 && counts.done + counts.deferred === TOO_MANY,
    60_000,
  );
  t.match(resting, { state: 'active', counts: { dead: 0 } });
  t.ok(resting.counts.deferred >= 3 * PER_BATCH + TOO_MANY - 2 * PER_HOUR, JSON.stringify(resting.counts));
  t.ok(site.seen.perWindow(HOUR_MS, { by: 'ip' }) <= PER_HOUR, 'no proxy was used more often than it may');
  const logins = site.log.filter(({ path }) => path === '/login').length;
  t.ok(logins >= 2 && logins <= 8, `signed in once per session, not once per check: ${logins}`);
  const { sessions } = (await (await fetch(`${site.url}/__stats`)).json()) as {
    sessions: { mixed: number };
  };
  t.equal(sessions.mixed, 0, 'no cookie was ever sent through another proxy');
});
