import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { createRobotsKeeper, type RobotsKeeper, type RobotsSource } from '../../src/fetch/robots-keeper.ts';
import type { RobotsAdvice, RobotsNews } from '../../src/wire/egress.ts';
import { createFakeClock } from '../kit/fake-clock.ts';

const RULES = 'User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n\nUser-agent: trawl\nDisallow: /t\n';
const page = new URL('https://site.example/page');
const KNOWN: RobotsAdvice = { state: 'known', version: 7, text: RULES, untilInMs: 60_000 };

interface Source extends RobotsSource {
  asked: number;
  reads: number;
  readonly told: RobotsNews[];
}

function source(advices: (RobotsAdvice | Error)[], text: string | Error | null = RULES): Source {
  const mine: Source = {
    asked: 0,
    reads: 0,
    told: [],
    signal: new AbortController().signal,
    async ask() {
      mine.asked += 1;
      const advice = advices.length > 1 ? advices.shift() : advices[0];
      if (advice instanceof Error) throw advice;
      return advice;
    },
    async read() {
      mine.reads += 1;
      await Promise.resolve();
      if (text instanceof Error) throw text;
      return text ?? undefined;
    },
    async tell(news) {
      mine.told.push(news);
    },
  };
  return mine;
}

/** Whether it has to find out or not. */
async function check(keeper: RobotsKeeper, url: URL, from: RobotsSource): Promise<void> {
  await keeper.check(url, () => from);
}

t.test('known rules are asked for once, until they are old; both schemes share them', async (t) => {
  const clock = createFakeClock();
  const keeper = createRobotsKeeper({ clock, userAgent: 'other' });
  const from = source([KNOWN, { state: 'same' }]);
  await Promise.all([check(keeper, page, from), check(keeper, page, from)]);
  t.equal(from.asked, 1);
  t.equal(keeper.version('site.example'), 7);
  await t.rejects(check(keeper, new URL('https://site.example/private/x?y=1'), from), {
    code: 'REJECTED',
    message: 'robots.txt of site.example does not allow /private/x',
  });
  await clock.pass(60_001);
  await check(keeper, page, from);
  t.equal(from.asked, 2);
  await check(keeper, page, from);
  t.equal(from.asked, 2, 'the same ones are good for another while');
});

t.test('who is appointed reads, tells, and goes on; the group of our own name counts', async (t) => {
  const keeper = createRobotsKeeper({ clock: createFakeClock(), userAgent: 'trawl' });
  const from = source([{ state: 'needed' }]);
  await Promise.all([check(keeper, page, from), check(keeper, page, from)]);
  t.equal(from.reads, 1);
  t.match(from.told, [{ host: 'site.example', text: RULES, keepMs: 86_400_000 }]);
  t.equal(from.told[0]?.crawlDelayMs, undefined, 'the delay is for others');
  await check(keeper, new URL('https://site.example/private/x'), from);
  await t.rejects(check(keeper, new URL('https://site.example/t'), from), { code: 'REJECTED' });

  const other = createRobotsKeeper({ clock: createFakeClock(), userAgent: 'other' });
  const slow = source([{ state: 'needed' }]);
  await check(other, page, slow);
  t.equal(slow.told[0]?.crawlDelayMs, 2_000);
});

t.test('a host that cannot say is left alone for longer each time', async (t) => {
  const clock = createFakeClock();
  const keeper = createRobotsKeeper({ clock, userAgent: 'x' });
  const from = source([{ state: 'needed' }], null);
  for (const waitMs of [60_000, 120_000, 240_000]) {
    const retryAtMs = clock.epoch() + waitMs;
    await t.rejects(check(keeper, page, from), { code: 'THROTTLED', retryAtMs });
    t.match(from.told.at(-1), { host: 'site.example', keepMs: waitMs, text: undefined });
  }
});

t.test('another worker reads: a moment is waited for it, not longer', async (t) => {
  const clock = createFakeClock();
  const keeper = createRobotsKeeper({ clock, userAgent: 'x' });
  const soon = source([{ state: 'coming', retryInMs: 500 }, KNOWN]);
  const checked = check(keeper, page, soon);
  await clock.pass(600);
  await checked;
  const late = createRobotsKeeper({ clock, userAgent: 'x' });
  await t.rejects(check(late, page, source([{ state: 'coming', retryInMs: 50_000 }])), { code: 'THROTTLED' });
});

t.test('who could not read stays appointed, and the next one here tries', async (t) => {
  const keeper = createRobotsKeeper({ clock: createFakeClock(), userAgent: 'x' });
  const broken = source([{ state: 'needed' }], new Failure('PROXY', 'refused'));
  await t.rejects(check(keeper, page, broken), { code: 'PROXY' });
  const next = source([{ state: 'coming', retryInMs: 500 }]);
  await check(keeper, page, next);
  t.same([next.asked, next.reads], [0, 1]);
});

t.test('old rules are used while the manager cannot be asked', async (t) => {
  const clock = createFakeClock();
  const keeper = createRobotsKeeper({ clock, userAgent: 'x' });
  const from = source([KNOWN, new Failure('NO_EGRESS', 'away')]);
  await check(keeper, page, from);
  await clock.pass(100_000);
  await check(keeper, page, from);
  t.equal(from.asked, 2);
  const fresh = createRobotsKeeper({ clock, userAgent: 'x' });
  await t.rejects(check(fresh, page, source([new Failure('NO_EGRESS', 'away')])), { code: 'NO_EGRESS' });
});

t.test('what answers bring along is heard', async (t) => {
  const keeper = createRobotsKeeper({ clock: createFakeClock(), userAgent: 'x' });
  const from = source([KNOWN]);
  keeper.hear('site.example', KNOWN);
  await check(keeper, page, from);
  t.equal(from.asked, 0);
  keeper.hear('site.example', { state: 'needed' });
  await check(keeper, page, from);
  t.same([from.asked, from.reads], [0, 1], 'appointed without having asked');
});
