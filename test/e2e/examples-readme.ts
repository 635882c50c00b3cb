/** Every command of the examples' page is run here, as it stands there, from its first section to its last. */
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { demoSitePort } from '../../src/local/layout.ts';
import { commandsOf, createShell, titlesOf } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

const PAGE = 'config/examples/README.md';

/** What the commands say that fit the first of each pair; all others have only to succeed. */
const EXPECTED: Readonly<Record<string, readonly (readonly [RegExp, RegExp])[]>> = {
  First: [],
  dmarket: [
    [/schedule apply/, /(dmarket-\w+ +\d+ +created\n){3}/],
    [
      /schedule ls/,
      /dmarket-730 .* every 4200s[\s\S]*dmarket-9a92 .* every 3900s[\s\S]*dmarket-a8db .* every 3600s/,
    ],
    [/runs ls/, /(dmarket-\w+-\d{8}T\d{6}Z +dmarket +(active|done) .*\n){3}/],
  ],
  'template-job': [
    [/--wait/, /Run job has ended \(done\): 3 done, 0 dead\./],
    [/results/, /^(\{.*"kind":"listed".*\}\n){60}$/m],
  ],
  countries: [
    [/run india/, /Run india has ended \(done\): 1,000 done, 0 dead\./],
    [
      /run russia --urls/,
      /it runs in this process[\s\S]*Run russia has ended \(done\): 1,000 done, 0 dead\./,
    ],
    [/run russia --resume/, /Run russia has ended \(done\): 1,000 done, 0 dead\./],
  ],
  people: [
    [/wait-for-all/, /missing-person REJECTED: .*404[\s\S]*done_with_errors, 2 done, 1 dead\n$/],
    [/wait-for-all/, /^ada 1115 followers$/m],
    [/call/, /^(\{"kind":"follower",.*\}\n){120}$/m],
  ],
  stories: [
    [/import/, /3 added, 0 changed, 0 refused\./],
    [/batch-1$/, /Run batch-1: 30 tasks are queued\./],
    [/watch/, /Run batch-2 has ended \(done\): 30 done, 0 dead\.\n$/],
    [/proxies ls/, /(available|idle|in_use)/],
  ],
};

// What is in hand when an example is stopped is not waited for: a game takes a quarter of a minute.
const trawl = await installTrawl(t, { WORKERS: '2', TRAWL_ACTOR_GRACE: '1s' });
const port = demoSitePort(trawl.portBase);
const shell = createShell(trawl);
// What a scraper of an example takes for the demo site's address, and a pace that a test can wait for.
const settings = {
  DMARKET_URL: `http://127.0.0.1:${port}/api/signed/items`,
  PEOPLE_URL: `http://127.0.0.1:${port}/api`,
  STORIES_URL: `http://127.0.0.1:${port}`,
  STORIES_DELAY_MS: '50',
};
const exported: string[] = [];

/** Each line has a shell of its own, so those of before that it would remember come along. */
async function type(command: string): Promise<{ code: number | null; said: string }> {
  const words = command
    .replaceAll('127.0.0.1:8088', `127.0.0.1:${port}`)
    // All ten thousand, on the cluster, are in examples-countries.ts.
    .replace("%.0f' 10000", "%.0f' 1000")
    .replaceAll('urls.txt', join(trawl.home, '../urls.txt'))
    .replace('.trawl/examples', trawl.home);
  if (words.startsWith('export ')) exported.push(words);
  return shell([...exported, words].join('; '), settings);
}

t.same(
  titlesOf(PAGE).map((title) => title.replace(/:.*/, '')),
  Object.keys(EXPECTED),
);
for (const title of titlesOf(PAGE))
  await t.test(title, { timeout: 120_000 }, async (t) => {
    const expected = EXPECTED[title.replace(/:.*/, '')] ?? [];
    const commands = commandsOf(title, PAGE);
    for (const [which] of expected)
      t.ok(
        commands.some((command) => which.test(command)),
        `the page has ${which.source}`,
      );
    for (const command of commands) {
      if (command.startsWith('npx trawl demo-site')) {
        const site = trawl.start(...command.split(' ').slice(2));
        if (site.stdout) await once(site.stdout, 'data');
        continue;
      }
      const { code, said } = await type(command);
      t.equal(code, 0, `${command}: ${said}`);
      t.notMatch(said, /\n\s+at .*\(/, 'no stack trace');
      for (const [which, words] of expected) if (which.test(command)) t.match(said, words, command);
    }
  });
