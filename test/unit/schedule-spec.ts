import t from 'tap';
import { parseSchedule, SCHEDULE_NAME_MAX, scheduleHeaders } from '../../src/policy/schedule-spec.ts';
import type { ScheduleSpec } from '../../src/policy/schedule-spec.ts';
import { runOf } from '../../src/policy/schedule-due.ts';
import { TOKEN } from '../../src/wire/names.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const least = { name: 'nightly', scraper: 'prices' };

t.test('the defaults: every hour, once at the start', async (t) => {
  t.same(specOf({}), {
    name: 'nightly',
    scraper: 'prices',
    timing: { kind: 'every', everyMs: 3_600_000 },
    priority: 0,
    params: {},
    urls: [],
    staggerMs: 0,
    jitterMs: 0,
    now: true,
    overlap: 'skip',
    catchUp: 'one',
    paused: false,
  });
});

t.test('everything given', async (t) => {
  const given = {
    cron: '0 9 * * mon-fri',
    timeZone: 'Europe/Berlin',
    priority: 9,
    params: { game: 'a8db' },
    urls: ['https://example.com/', 'HTTP://example.org/a b'],
    stagger: '5m',
    jitter: '30s',
    now: false,
    overlap: 'queue',
    catchUp: 'none',
    paused: true,
  };
  t.match(specOf(given), {
    timing: { kind: 'cron', cron: { pattern: '0 0 9 * * mon-fri' }, timeZone: 'Europe/Berlin' },
    priority: 9,
    params: { game: 'a8db' },
    urls: given.urls,
    staggerMs: 300_000,
    jitterMs: 30_000,
    now: false,
    overlap: 'queue',
    catchUp: 'none',
    paused: true,
  });
});

t.test('a spec is plain data', async (t) => {
  const spec = specOf({ cron: '@daily', timeZone: 'Asia/Tokyo' });
  t.same(JSON.parse(JSON.stringify(spec)), spec);
});

t.test('intervals', async (t) => {
  const everyMs = (every: unknown): number | undefined => {
    const parsed = parseSchedule({ ...least, every }, NOW);
    return parsed.ok && parsed.spec.timing.kind === 'every' ? parsed.spec.timing.everyMs : undefined;
  };
  const taken: readonly [string, number][] = [
    ['1s', 1_000],
    ['3600s', 3_600_000],
    ['90m', 5_400_000],
    ['1h30m', 5_400_000],
    ['1d12h', 129_600_000],
    ['366d', 31_622_400_000],
  ];
  for (const [every, ms] of taken) t.equal(everyMs(every), ms, every);
  const refused = [
    0,
    '0',
    '0s',
    '0h0m',
    -5,
    '-5s',
    3600,
    '3600',
    '1.5s',
    '500ms',
    '367d',
    '5m1h',
    's',
    '',
    null,
    {},
  ];
  for (const every of refused) t.equal(everyMs(every), undefined, JSON.stringify(every));
  t.same(problemsOf({ every: 0 }), [
    'every must be whole seconds from 1s to 366d, with a unit (90s, 15m, 1h30m, 1d), not 0',
  ]);
});

t.test('each wrong setting has its sentence, and all are told at once', async (t) => {
  const table: readonly [settings: Record<string, unknown>, problem: RegExp][] = [
    [{ name: undefined }, /^name is missing$/],
    [{ name: '' }, /^name must be 1 to 40 letters/],
    [{ name: 'a.b' }, /^name must be/],
    [{ name: 'x'.repeat(41) }, /^name must be/],
    [{ scraper: 'a b' }, /^scraper must be 1 to 64 letters/],
    [{ scraper: 7 }, /^scraper must be/],
    [{ every: '1h', cron: '@daily' }, /^every and cron exclude each other/],
    [{ timeZone: 'Europe/Berlin' }, /^timeZone goes with cron/],
    [{ cron: '@daily', timeZone: 'Berlin' }, /^timeZone must be a name/],
    [{ cron: '61 * * * *' }, /^cron has the minute "61"/],
    [{ cron: '0 0 31 2 *' }, /^cron 0 0 31 2 \* names a time that does not come/],
    [{ cron: 5 }, /^cron must be text, not 5$/],
    [{ cron: ' ' }, /^cron must be text/],
    [{ priority: 10 }, /^priority must be a whole number from 0 to 9, not 10$/],
    [{ priority: -1 }, /^priority/],
    [{ priority: '5' }, /^priority/],
    [{ params: [] }, /^params must be an object/],
    [{ params: null }, /^params must be an object, not null$/],
    [{ urls: [] }, /^urls must be a list/],
    [{ urls: 'https://example.com' }, /^urls must be a list/],
    [{ urls: ['ftp://example.com'] }, /^urls must be a list/],
    [{ urls: ['https://exa mple/'] }, /^urls must be a list/],
    [{ urls: Array.from({ length: 10_001 }, () => 'https://example.com') }, /^urls must be .{1,160}$/],
    [{ stagger: '-1s' }, /^stagger must be/],
    [{ jitter: '25h' }, /^jitter must be whole seconds from 0s to 1d/],
    [{ every: '10s', jitter: '10s' }, /^stagger and jitter together must be shorter than the interval$/],
    [{ every: '10s', jitter: '5s', stagger: '5s' }, /^stagger and jitter together/],
    [{ now: 'yes' }, /^now must be true or false/],
    [{ overlap: 'kill' }, /^overlap must be skip or queue, not "kill"$/],
    [{ catchUp: 'all' }, /^catchUp must be one or none/],
    [{ priority: 5n }, /^priority must be .*, not "5"$/],
    [{ now: () => true }, /^now must be true or false, not function$/],
    [{ paused: 1 }, /^paused must be true or false/],
    [{ interval: 60 }, /^interval is no setting of a schedule: it has name, scraper, every/],
  ];
  for (const [settings, problem] of table) {
    const problems = problemsOf(settings);
    t.equal(problems.length, 1, String(problem));
    t.match(problems[0], problem);
  }
  t.equal(problemsOf({ name: '', priority: 11, cron: '* *', overlap: 0 }).length, 4);
});

t.test('what is no object at all', async (t) => {
  for (const input of [undefined, null, 'nightly', 5, [], [least]])
    t.match(parseSchedule(input, NOW), { ok: false, problems: ['a schedule is an object of settings'] });
});

t.test('the headers for the server', async (t) => {
  const headers = (settings: object): object => scheduleHeaders(specOf(settings), 'trawl.due.nightly');
  const common = { 'Nats-Schedule-Target': 'trawl.due.nightly', 'Nats-Schedule-Rollup': 'sub' };
  t.same(headers({}), { 'Nats-Schedule': '@every 3600s', ...common });
  t.same(headers({ every: '1d' }), { 'Nats-Schedule': '@every 86400s', ...common });
  t.same(headers({ cron: '0 9 * * *' }), { 'Nats-Schedule': '0 0 9 * * *', ...common });
  t.same(headers({ cron: '@daily', timeZone: 'UTC' }), { 'Nats-Schedule': '0 0 0 * * *', ...common });
  t.same(headers({ cron: '@daily', timeZone: 'Asia/Tokyo' }), {
    'Nats-Schedule': '0 0 0 * * *',
    'Nats-Schedule-Time-Zone': 'Asia/Tokyo',
    ...common,
  });
});

t.test('the run of the longest name is still one token', async (t) => {
  t.match(runOf('x'.repeat(SCHEDULE_NAME_MAX), NOW), TOKEN);
});

function specOf(settings: object): ScheduleSpec {
  const parsed = parseSchedule({ ...least, ...settings }, NOW);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.spec;
}

function problemsOf(settings: object): readonly string[] {
  const parsed = parseSchedule({ ...least, ...settings }, NOW);
  return parsed.ok ? [] : parsed.problems;
}
