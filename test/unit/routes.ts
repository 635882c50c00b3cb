import t from 'tap';
import { NO_ROUTES, parseRoutes, type Routes } from '../../src/domain/routes.ts';
import { findLacking, planRoutes } from '../../src/policy/plan-routes.ts';
import { decideStanding, judgeAbsence } from '../../src/policy/standing.ts';
import { laneName, parseLaneName } from '../../src/wire/lanes.ts';
import { createRandom } from '../kit/random.ts';

const FULL = ['a', 'b', 'c', 'd'];

/** With workers that take whatever comes, and nobody awaited. */
function plan(
  before: Routes,
  workers: readonly (readonly string[])[],
  awaited: readonly string[] = [],
): Routes {
  return planRoutes(before, { workers: workers.map((scrapers) => ({ scrapers })), awaited });
}

t.test('workers that are alike share all lanes', (t) => {
  const routes = plan(NO_ROUTES, [FULL, FULL, FULL]);
  t.same(routes, { ...NO_ROUTES, shared: FULL });
  t.same(plan(routes, [FULL]), routes, 'however many they are');
  t.same(plan(routes, []), routes, 'and while nobody is there');
  t.end();
});

t.test('one that has a single scraper needs lanes for that one alone', (t) => {
  const before = plan(NO_ROUTES, [FULL, FULL]);
  const routes = plan(before, [FULL, FULL, ['b']]);
  t.match(routes, { shared: ['a', 'c', 'd'], own: ['b'], open: ['b'] });
  const after = plan(routes, [FULL, FULL]);
  t.match(after, { shared: FULL, own: [], open: ['b'] }, 'the lanes stay until they are empty');
  t.end();
});

t.test('a rolling change of scrapers concerns those that differ', (t) => {
  const before = plan(NO_ROUTES, [FULL, FULL]);
  t.match(plan(before, [FULL, [...FULL, 'e']]), { shared: FULL, own: ['e'] });
  t.match(plan(before, [FULL, ['a', 'b', 'c']]), { shared: ['a', 'b', 'c'], own: ['d'] });
  t.end();
});

t.test('who comes does not meet in the shared lanes what it cannot run', (t) => {
  const before = plan(NO_ROUTES, [['noop', 'a']]);
  t.match(
    plan(before, [
      ['noop', 'a'],
      ['noop', 'b'],
    ]),
    { shared: ['a'], own: ['b', 'noop'] },
  );
  t.end();
});

t.test('nobody else comes to what is awaited, and somebody does when it is given up', (t) => {
  const before = plan(NO_ROUTES, [FULL, [...FULL, 'e']]);
  t.match(before, { shared: FULL, own: ['e'] });
  const left = [{ scrapers: FULL }];
  t.same(findLacking(before, left), ['e']);
  const facts = { only: false, has: (scraper: string) => FULL.includes(scraper), others: [] };
  t.same(
    decideStanding({ ...facts, routes: before }),
    { shared: true, own: [] },
    'also before anybody has said that it is awaited',
  );
  t.equal(judgeAbsence('e', { ...facts, routes: before }), 'awaited');
  t.equal(judgeAbsence('f', { ...facts, routes: before }), 'nobody');
  t.equal(judgeAbsence('f', { ...facts, routes: before, others: [['f']] }), 'elsewhere');
  t.same(plan(before, [FULL], ['e']), before);
  const routes = plan(before, [FULL], []);
  t.match(routes, { own: [], open: ['e'] });
  t.same(decideStanding({ ...facts, routes }), { shared: true, own: ['e'] });
  t.equal(judgeAbsence('e', { ...facts, routes }), 'nobody');
  t.end();
});

t.test('the shared lanes are left alone too, while all who stood there are awaited', (t) => {
  const before = plan(plan(NO_ROUTES, [['a', 'b']]), [
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
  t.match(before, { shared: ['a', 'b'], own: ['c', 'd', 'e'] });
  const facts = { only: false, has: (scraper: string) => 'cde'.includes(scraper), others: [] };
  t.match(decideStanding({ ...facts, routes: before }), { shared: false });
  t.same(plan(before, [['c', 'd', 'e']], ['a', 'b']), before);
  const routes = plan(before, [['c', 'd', 'e']]);
  t.match(routes, { shared: ['c', 'd', 'e'], own: [] });
  t.match(decideStanding({ ...facts, routes }), { shared: true });
  t.match(
    plan(before, [['a', 'c', 'd', 'e']], ['b']),
    { shared: ['a', 'c', 'd', 'e'], own: ['b'] },
    'one that somebody has does not wait for the others',
  );
  t.end();
});

t.test('who works for one scraper alone meets nothing else', (t) => {
  const only = { scrapers: ['b'], only: true };
  const alone = planRoutes(NO_ROUTES, { workers: [only], awaited: [] });
  t.match(alone, { shared: [], own: ['b'] });
  const facts = { only: true, has: (scraper: string) => scraper === 'b', others: [] };
  t.same(decideStanding({ ...facts, routes: alone }), { shared: false, own: ['b'] });
  t.same(decideStanding({ ...facts, routes: { ...alone, open: ['a', 'b'] } }), { shared: false, own: ['b'] });
  t.equal(judgeAbsence('a', { ...facts, routes: alone }), 'awaited', 'it buries nothing');
  t.match(
    decideStanding({ ...facts, routes: { ...alone, mixed: ['b'] } }),
    { shared: true },
    'what was put there before',
  );
  t.match(decideStanding({ ...facts, routes: NO_ROUTES }), { shared: true }, 'before it has lanes');
  const both = planRoutes(alone, { workers: [only, { scrapers: ['b', 'noop'] }], awaited: [] });
  t.match(both, { shared: ['noop'], own: ['b'] });
  t.same(decideStanding({ only: false, has: () => false, others: [['b']], routes: alone }), {
    shared: true,
    own: [],
  });
  t.end();
});

t.test('whatever the workers have: all of it is somewhere, and somebody who has it stands there', (t) => {
  const random = createRandom(7);
  let routes: Routes = NO_ROUTES;
  for (let step = 0; step < 500; step += 1) {
    const workers = Array.from({ length: random.int(1, 5) }, () => FULL.filter(() => random.chance(0.6)));
    routes = plan(routes, workers);
    const standings = workers.map((own, index) =>
      decideStanding({
        routes,
        only: false,
        has: (scraper) => own.includes(scraper),
        others: workers.filter((_, other) => other !== index),
      }),
    );
    t.ok(
      standings.some(({ shared }) => shared),
      'somebody buries what nobody knows',
    );
    for (const scraper of new Set(workers.flat())) {
      const isOwn = routes.own.includes(scraper);
      const takers = workers.filter((_, index) => {
        const standing = standings[index];
        return isOwn ? standing?.own.includes(scraper) : standing?.shared;
      });
      if (!takers.length || !takers.every((own) => own.includes(scraper)))
        t.fail(`${scraper} is met by the wrong ones`, { routes, workers });
      const owners = workers.filter((own) => own.includes(scraper));
      if (takers.length !== owners.length)
        t.fail(`not all that have ${scraper} come to it`, { routes, workers });
    }
    for (const scraper of routes.open)
      if (!standings.some(({ own }) => own.includes(scraper)))
        t.fail(`nobody comes to the lanes of ${scraper}`);
  }
  t.end();
});

t.test('what is left of a scraper in the shared lanes is met by all that have it', (t) => {
  const routes = { ...NO_ROUTES, shared: ['a'], own: ['b'], open: ['b'], mixed: ['b'] };
  const facts = { only: false, has: (scraper: string) => scraper === 'b', others: [['a', 'b']] };
  t.same(decideStanding({ ...facts, routes }), { shared: true, own: ['b'] });
  t.same(decideStanding({ ...facts, routes: { ...routes, mixed: [] } }), { shared: false, own: ['b'] });
  t.end();
});

t.test('a record that cannot be read is none', (t) => {
  t.same(parseRoutes({ shared: 1 }), NO_ROUTES);
  t.same(parseRoutes(undefined), NO_ROUTES);
  t.end();
});

t.test('names of lanes', (t) => {
  for (const lane of [{ priority: 0 }, { priority: 9, scraper: 'a-b_c' }])
    t.match(parseLaneName(laneName(lane)), lane);
  t.equal(parseLaneName('coordinator'), undefined);
  t.end();
});
