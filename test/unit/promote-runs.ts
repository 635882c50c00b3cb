import t from 'tap';
import { planPromotions, PROMOTION_DEFAULTS, type RunInLine } from '../../src/policy/promote-runs.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

t.test('one run per scraper, the oldest first', async (t) => {
  const runs = [
    run('b', { createdAt: 2 }),
    run('a', { createdAt: 1 }),
    run('x', { scraper: 'other', createdAt: 3 }),
  ];
  t.same(planPromotions(runs, PROMOTION_DEFAULTS), {
    activate: ['a', 'x'],
    waiting: [{ id: 'b', reason: 'scraper-full' }],
  });
  const busy = [...runs, run('now', { state: 'active' })];
  t.same(planPromotions(busy, PROMOTION_DEFAULTS).activate, ['x']);
});

t.test('priority goes before age, the id decides between equals', async (t) => {
  const runs = [
    run('d', { createdAt: 1 }),
    run('c', { createdAt: 9, priority: 5 }),
    run('b', { createdAt: 3 }),
    run('a', { createdAt: 3 }),
  ];
  const { activate } = planPromotions(runs, { maxActivePerScraper: 9, maxActive: 9 });
  t.same(activate, ['c', 'd', 'a', 'b']);
});

t.test('paused runs neither count nor move, standing runs do not count', async (t) => {
  const runs = [
    run('paused', { state: 'paused', createdAt: 0 }),
    run('standing', { state: 'active', standing: true }),
    run('default-shop', { standing: true, createdAt: 99 }),
    run('next'),
  ];
  t.same(planPromotions(runs, { maxActivePerScraper: 1, maxActive: 1 }), {
    activate: ['next', 'default-shop'],
    waiting: [],
  });
});

t.test('the cluster has a limit of its own', async (t) => {
  const runs = ['a', 'b', 'c'].map((id, i) => run(id, { scraper: id, createdAt: i }));
  t.same(planPromotions(runs, { maxActivePerScraper: 1, maxActive: 2 }), {
    activate: ['a', 'b'],
    waiting: [{ id: 'c', reason: 'cluster-full' }],
  });
});

t.test('no limit is passed, and nobody waits who could go', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 500; round += 1) {
    const runs = Array.from({ length: random.int(0, 40) }, (_, i) =>
      run(`r${i}`, {
        scraper: `s${random.int(0, 5)}`,
        state: random.pick(['queued', 'queued', 'active', 'paused', 'done']),
        priority: random.int(0, 2),
        createdAt: random.int(0, 9),
        standing: random.chance(0.1),
      }),
    );
    // What is active already may be over the limit: then nothing more may be added.
    const limits = { maxActivePerScraper: random.int(1, 3), maxActive: random.int(1, 12) };
    const { activate, waiting } = planPromotions(runs, limits);
    const after = runs.map((each) =>
      activate.includes(each.id) ? { ...each, state: 'active' as const } : each,
    );
    const count = (list: readonly RunInLine[], scraper?: string): number =>
      list.filter((r) => r.state === 'active' && !r.standing && (scraper ?? r.scraper) === r.scraper).length;
    const where = JSON.stringify({ runs, limits });
    for (const id of activate) {
      const chosen = after.find((each) => each.id === id);
      if (!chosen || chosen.standing) continue;
      if (count(after) > limits.maxActive) t.fail(`over the limit of the cluster: ${where}`);
      if (count(after, chosen.scraper) > limits.maxActivePerScraper)
        t.fail(`over that of a scraper: ${where}`);
    }
    for (const { id } of waiting) {
      const scraper = runs.find((each) => each.id === id)?.scraper;
      if (count(after) < limits.maxActive && count(after, scraper) < limits.maxActivePerScraper)
        t.fail(`${id} could go: ${where}`);
    }
    const queued = runs.filter(({ state }) => state === 'queued').length;
    if (activate.length + waiting.length !== queued) t.fail(`each queued run has one answer: ${where}`);
    t.same(planPromotions(after, limits).activate, [], 'nothing is left to do');
  }
});

function run(id: string, given: Partial<RunInLine> = {}): RunInLine {
  return { id, scraper: 'shop', state: 'queued', priority: 0, createdAt: 5, standing: false, ...given };
}
