/** What a handler enqueues, and what becomes of it in the attempt. */
import t from 'tap';
import * as v from 'valibot';
import { startAttempt } from '../../src/actors/worker/attempt.ts';
import { createSettler } from '../../src/actors/worker/settling.ts';
import { WORKER_DEFAULTS, type Lanes } from '../../src/actors/worker/ports.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { FollowUp, TaskSpec } from '../../src/domain/task.ts';
import { createFollowPolicy } from '../../src/policy/follow-links.ts';
import { POISON_DEFAULTS } from '../../src/policy/poison.ts';
import { SETTLE_DEFAULTS, type AttemptOutcome } from '../../src/policy/settle.ts';
import { createEnqueue } from '../../src/scrapers/enqueue.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { makeDelivery } from '../kit/deliveries.ts';
import { quietLog } from '../kit/nats-server.ts';

const task: TaskSpec = {
  id: 'x',
  run: 'r',
  scraper: 'own',
  url: 'https://shop.example/a',
  priority: 4,
  createdAt: 1,
  depth: 2,
};

function open(crawl?: Scraper['crawl'], spec: TaskSpec = task) {
  const noted: FollowUp[] = [];
  const enqueue = createEnqueue({
    task: spec,
    follow: crawl && createFollowPolicy(crawl),
    budget:
      crawl?.pagesPerHost === undefined
        ? undefined
        : { scope: spec.scraper, pagesPerHost: crawl.pagesPerHost },
    noted,
  });
  return { noted, enqueue };
}

t.test('addresses, requests, lists, stages', async (t) => {
  const { noted, enqueue } = open();
  enqueue('https://a.example/');
  enqueue(new URL('https://b.example/'), { priority: 9, input: { x: 1 } });
  enqueue(['https://c.example/', { url: 'https://d.example/', scraper: 'other', key: 'd' }]);
  enqueue({ key: 'only' });
  enqueue('process', { n: 1 });
  enqueue('process', [{ n: 2 }, { n: 3 }]);
  enqueue({ name: 'stage', run: async () => 1 }, { n: 4 });
  t.same(noted, [
    { scraper: 'own', url: 'https://a.example/', priority: 4 },
    { scraper: 'own', url: 'https://b.example/', input: { x: 1 }, priority: 9 },
    { scraper: 'own', url: 'https://c.example/', priority: 4 },
    { scraper: 'other', url: 'https://d.example/', key: 'd', priority: 4 },
    { scraper: 'own', key: 'only', priority: 4 },
    { scraper: 'process', input: { n: 1 }, priority: 4 },
    { scraper: 'process', input: { n: 2 }, priority: 4 },
    { scraper: 'process', input: { n: 3 }, priority: 4 },
    { scraper: 'stage', input: { n: 4 }, priority: 4 },
  ]);
});

t.test('a link that leads nowhere costs only itself', async (t) => {
  const { noted, enqueue } = open();
  t.same(enqueue(['mailto:a@b.example', '/relative', 'https://ok.example/', 'javascript:void 0']), {
    enqueued: 1,
    refused: { invalid: 3 },
  });
  t.equal(noted.length, 1);
});

t.test('a budget of a single request is counted under the scraper that enqueues it', async (t) => {
  const { noted, enqueue } = open();
  enqueue({ url: 'https://a.example/', scraper: 'other', budget: { pagesPerRun: 5 } });
  t.match(noted, [{ scraper: 'other', budget: { scope: 'own', pagesPerRun: 5 } }]);
  for (const pagesPerRun of [-1, 0.5, NaN])
    t.throws(() => enqueue({ key: 'k', budget: { pagesPerRun } }), { code: 'INVALID' });
});

t.test('what can be no task is told at once', async (t) => {
  const { noted, enqueue } = open();
  const wrong: [unknown, unknown?][] = [
    [{}],
    [undefined],
    [null],
    [42],
    [[undefined]],
    ['process', 'text'],
    ['process', [1]],
    [{ key: '' }],
    [{ key: 'k'.repeat(513) }],
    [{ key: 'k', priority: 10 }],
    [{ key: 'k', priority: 1.5 }],
    [{ key: 'k', scraper: 'a.b' }],
    [{ input: { list: new Map() } }],
    [{ input: { run: () => 1 } }],
    [{ input: { text: 'x'.repeat(300_000) } }],
    [{ url: 'https://a.example/', input: { method: 5 } }],
  ];
  for (const [first, second] of wrong) t.throws(() => enqueue(first, second), { code: 'INVALID' });
  t.same(noted, []);
});

t.test('the rules of a crawl hold for what the scraper enqueues for itself', async (t) => {
  const rules = { depth: 3, within: 'site', exclude: ['*/private/*'], pagesPerHost: 3 } as const;
  const { noted, enqueue } = open(rules);
  const { enqueued, refused } = enqueue([
    'https://shop.example/b',
    'https://shop.example/b#again',
    'https://www.shop.example/c',
    'https://elsewhere.example/',
    'https://shop.example/private/x',
    { url: 'https://elsewhere.example/for-another', scraper: 'other' },
  ]);
  t.equal(enqueued, 3);
  t.match(refused, { repeated: 1, outside: 1, excluded: 1 });
  t.same(noted.map(({ url }) => url).sort(), [
    'https://elsewhere.example/for-another',
    'https://shop.example/b',
    'https://www.shop.example/c',
  ]);
  t.same(
    noted.map(({ budget }) => budget),
    [undefined, { scope: 'own', pagesPerHost: 3 }, { scope: 'own', pagesPerHost: 3 }],
    'the budget goes with what the rules are about',
  );
  const deep = open(rules, { ...task, depth: 3 });
  t.match(deep.enqueue('https://shop.example/b'), { enqueued: 0, refused: { depth: 1 } });
  t.same(deep.enqueue({ url: 'https://shop.example/a?page=2', continues: true }), {
    enqueued: 1,
    refused: {},
  });
  t.match(deep.noted, [{ continues: true, budget: { pagesPerHost: 3 } }], 'as deep as its list, no deeper');
});

t.test('a site map of the largest size is enqueued whole', async (t) => {
  const { noted, enqueue } = open({ depth: 3, within: 'site' });
  const pages = Array.from({ length: 50_000 }, (_, page) => ({ url: `https://shop.example/p/${page}` }));
  const { enqueued, refused } = enqueue([...pages, { url: 'https://elsewhere.example/' }]);
  t.equal(enqueued, 50_000);
  t.same(refused, { outside: 1 });
  t.equal(noted.at(-1)?.url, 'https://shop.example/p/49999');
});

t.test('under the rules of a crawl, too, a task is what its id says', async (t) => {
  const own = { ...task, key: 'monday' };
  const url = 'https://shop.example/a';
  const { noted, enqueue } = open({ depth: 3 }, own);
  const requests = [
    { url, key: 'monday' },
    { url, key: 'tuesday', input: { day: 2 } },
    { url, key: 'wednesday', input: { method: 5 } },
    { url, input: { method: 'POST', body: { page: 1 } } },
    { url, input: { method: 'POST', body: { page: 2 } } },
    { url, input: { method: 'POST', body: { page: 2 }, other: 1 } },
  ];
  t.same(enqueue(requests), { enqueued: 4, refused: { repeated: 2 } });
  t.same(
    noted,
    requests.slice(1, 5).map((request) => ({ scraper: 'own', ...request, priority: 4 })),
  );
  const { id, run, scraper, priority, createdAt } = task;
  const pageless = { id, run, scraper, priority, createdAt, key: 'k' };
  const keyed = open({ within: 'anywhere' }, pageless);
  t.same(keyed.enqueue([{ url, key: 'k' }, url]), { enqueued: 1, refused: { repeated: 1 } });
});

t.test('an address without its tracking parameters is kept as it was as well', async (t) => {
  const { noted, enqueue } = open({ dropTracking: true });
  const raw = 'https://shop.example/b?utm_source=mail&x=1';
  enqueue([
    { url: raw, input: { n: 1 } },
    'https://shop.example/c?x=1',
    { url: 'https://shop.example/d?gclid=1', input: { rawUrl: 'mine' } },
  ]);
  t.same(noted, [
    { scraper: 'own', url: 'https://shop.example/b?x=1', input: { rawUrl: raw, n: 1 }, priority: 4 },
    { scraper: 'own', url: 'https://shop.example/c?x=1', priority: 4 },
    { scraper: 'own', url: 'https://shop.example/d', input: { rawUrl: 'mine' }, priority: 4 },
  ]);
});

function attempt(scraper: Omit<Scraper, 'name'>, input?: TaskSpec['input']) {
  const delivery = makeDelivery('a');
  const { spec } = delivery.task;
  const given = { ...delivery, task: { ...delivery.task, spec: { ...spec, ...(input && { input }) } } };
  return new Promise<{ outcome: AttemptOutcome; followUps: readonly FollowUp[] }>((resolve) => {
    startAttempt({
      delivery: given,
      scraper: { name: 'test', ...scraper },
      timeoutMs: 1_000,
      ports: {
        withLock: (_lock, use) => use(new AbortController().signal),
        sharedOf: async () => 'shared',
        log: quietLog,
      },
      onEnd: ({ followUps }, outcome) => resolve({ outcome, followUps }),
    });
  });
}

t.test('bad items are kept apart and counted; the others are stored', async (t) => {
  const item = v.object({ n: v.pipe(v.number(), v.maxValue(96)), unit: v.optional(v.string(), 'kg') });
  const { outcome } = await attempt({
    item,
    async run({ emit }) {
      for (let n = 0; n < 100; n += 1) emit(n % 2 === 0 ? { n } : { n, unit: 'g' });
      return 'kept';
    },
  });
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  const { items, published, total, errors, badItems, data } = outcome.result;
  t.match({ published, total, errors, data }, { published: 97, total: 100, errors: 3, data: 'kept' });
  t.equal(items.length, 97);
  t.same(items.slice(0, 2), [
    { n: 0, unit: 'kg' },
    { n: 1, unit: 'g' },
  ]);
  t.match(badItems, [
    { index: 97, problem: /^item\.n: /, item: { n: 97, unit: 'g' } },
    { index: 98 },
    { index: 99 },
  ]);
});

t.test('of very many bad items, and very large ones, some are kept', async (t) => {
  const { outcome } = await attempt({
    item: v.object({ n: v.number() }),
    async run({ emit }) {
      emit('kind', { n: 1 });
      emit({ text: 'x'.repeat(1_000_000) });
      for (let i = 0; i < 1_000; i += 1) emit({ i, call: () => 1, big: undefined });
    },
  });
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  const { items, errors, badItems = [] } = outcome.result;
  t.same(items, [{ kind: 'kind', data: { n: 1 } }]);
  t.equal(errors, 1_001);
  t.equal(badItems.length, 20);
  t.ok(JSON.stringify(badItems).length < 100_000);
});

t.test('input is read by the schema: defaults are there, and what is wrong has its name', async (t) => {
  const input = v.object({ page: v.number(), currency: v.optional(v.string(), 'USD') });
  const scraper = { input, run: async (context: { readonly input: unknown }) => context.input };
  t.match((await attempt(scraper, { page: 3 })).outcome, {
    kind: 'done',
    result: { data: { page: 3, currency: 'USD' } },
  });
  t.match((await attempt(scraper, { page: 'three' })).outcome, {
    kind: 'failed',
    failure: { code: 'INVALID', message: /^input\.page: / },
  });
  t.match((await attempt(scraper)).outcome, { kind: 'failed', failure: { code: 'INVALID' } });
});

t.test('a task has what was set up; one that fails enqueues nothing', async (t) => {
  const scraper = { setup: () => 1, run: async (context: { readonly shared: unknown }) => context.shared };
  t.match((await attempt(scraper)).outcome, { result: { data: 'shared' } });
  const late: unknown[] = [];
  const { followUps } = await attempt({
    async run({ enqueue }) {
      enqueue('https://a.example/');
      setTimeout(() => {
        try {
          enqueue('https://b.example/');
        } catch (error) {
          late.push(error);
        }
      }, 5);
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.equal(followUps.length, 1);
  t.match(late, [{ code: 'CANCELLED' }], 'nobody would submit it');
});

function settler(submit: (() => Promise<void>) | undefined) {
  const steps: string[] = [];
  const lanes = { ack: () => steps.push('ack'), giveBack: () => steps.push('give-back') };
  const made = createSettler(
    {
      storeOutcome: async ({ state }) => {
        steps.push(`store ${state}`);
        return { kind: 'stored' };
      },
      storeNext: async ({ faults, deferrals }) => {
        steps.push(`next ${faults.length} ${deferrals}`);
        return { kind: 'stored' };
      },
      ...(submit && {
        submit: async () => {
          steps.push('submit');
          await submit();
          steps.push('submitted');
        },
      }),
      lastBeatAt: () => performance.now(),
      announce: () => undefined,
      log: quietLog,
    },
    {
      ...WORKER_DEFAULTS,
      worker: 'w',
      concurrency: 1,
      leaseMs: 60_000,
      prefetchMax: 1,
      settle: SETTLE_DEFAULTS,
      poison: POISON_DEFAULTS,
    },
    lanes as unknown as Lanes,
  );
  const outcome = { kind: 'done', result: { items: [], pages: 0, bytes: 0 } } as const;
  const ended = (followUps: readonly FollowUp[], of: AttemptOutcome = outcome) =>
    made.attempt({
      delivery: makeDelivery('a'),
      scraper: { name: 'test', run: async () => 1 },
      startedAt: Date.now(),
      outcome: of,
      followUps,
    });
  return { steps, ended };
}

t.test('what a task led to is stored before the task counts as done', async (t) => {
  const next = [{ scraper: 'test', key: 'b', priority: 0 }] as const;
  const good = settler(() => Promise.resolve());
  await good.ended(next);
  t.same(good.steps, ['submit', 'submitted', 'store done', 'ack']);

  const away = settler(() => Promise.reject(new Failure('UNAVAILABLE', 'the intake is full')));
  await away.ended(next);
  t.same(away.steps, ['submit', 'next 0 1', 'ack'], 'deferred: no fault, and one deferral');

  const none = settler(() => Promise.resolve());
  await none.ended([]);
  t.same(none.steps, ['store done', 'ack']);
  await none.ended(next, { kind: 'failed', failure: { code: 'NETWORK', message: 'gone' } });
  t.notMatch(none.steps, ['submit'], 'a failed attempt enqueues nothing');
  t.notOk(none.steps.includes('submit'));
});
