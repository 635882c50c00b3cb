import t from 'tap';
import { NO_ROUTES, parseRoutes, type Routes } from '../../src/domain/routes.ts';
import { planRoutes } from '../../src/policy/plan-routes.ts';
import { decideStanding } from '../../src/policy/standing.ts';
import { laneName, parseLaneName } from '../../src/wire/lanes.ts';
import { createRandom } from '../kit/random.ts';

const FULL = ['a', 'b', 'c', 'd'];

t.test('workers that are alike share all lanes', (t) => {
  const routes = planRoutes(NO_ROUTES, [FULL, FULL, FULL]);
  t.same(routes, { ...NO_ROUTES, shared: FULL });
  t.same(planRoutes(routes, [FULL]), routes, 'however many they are');
  t.same(planRoutes(routes, []), routes, 'and while nobody is there');
  t.end();
});

t.test('one that has a single scraper needs lanes for that one alone', (t) => {
  const before = planRoutes(NO_ROUTES, [FULL, FULL]);
  const routes = planRoutes(before, [FULL, FULL, ['b']]);
  t.match(routes, { shared: ['a', 'c', 'd'], own: ['b'], open: ['b'] });
  const after = planRoutes(routes, [FULL, FULL]);
  t.match(after, { shared: FULL, own: [], open: ['b'] }, 'the lanes stay until they are empty');
  t.end();
});

t.test('a rolling change of scrapers concerns those that differ', (t) => {
  const before = planRoutes(NO_ROUTES, [FULL, FULL]);
  t.match(planRoutes(before, [FULL, [...FULL, 'e']]), { shared: FULL, own: ['e'] });
  t.match(planRoutes(before, [FULL, ['a', 'b', 'c']]), { shared: ['a', 'b', 'c'], own: ['d'] });
  t.end();
});

t.test('who comes does not meet in the shared lanes what it cannot run', (t) => {
  const before = planRoutes(NO_ROUTES, [['noop', 'a']]);
  t.match(
    planRoutes(before, [
      ['noop', 'a'],
      ['noop', 'b'],
    ]),
    { shared: ['a'], own: ['b', 'noop'] },
  );
  t.end();
});

t.test('whatever the workers have: all of it is somewhere, and somebody who has it stands there', (t) => {
  const random = createRandom(7);
  let routes: Routes = NO_ROUTES;
  for (let step = 0; step < 500; step += 1) {
    const workers = Array.from({ length: random.int(1, 5) }, () => FULL.filter(() => random.chance(0.6)));
    routes = planRoutes(routes, workers);
    const standings = workers.map((own, index) =>
      decideStanding({
        routes,
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
  const facts = { has: (scraper: string) => scraper === 'b', others: [['a', 'b']] };
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
