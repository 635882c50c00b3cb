/** Schedules without a server: each time one run, whoever falls wherever, and one broken one harms no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { projectRoot } from '../../src/project-root.ts';
import { nextTimes, runOf } from '../../src/policy/schedule-due.ts';
import { isRunOf, runByHand, tasksOf } from '../../src/policy/schedule-run.ts';
import { parseSchedule, type ScheduleSpec } from '../../src/policy/schedule-spec.ts';
import { createScheduleServices } from '../../src/services/schedules.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';
import { createScheduleWorld, type Coordinator, type ScheduleWorld } from '../kit/schedule-world.ts';

const NINE = Date.UTC(2026, 0, 5, 9);
const HOUR_MS = 3_600_000;
const TEN = NINE + HOUR_MS;
const atTen = { firedAt: TEN + 3, nextAt: TEN + HOUR_MS };
const TEN_RUN = 'hourly-20260105T100000Z';
const random = createRandom(chooseSeed());
t.comment(`seed ${random.seed}`);

/** Made at nine; it is ten now. */
function hourlyWorld(definition: object = {}): ScheduleWorld {
  const world = createScheduleWorld(NINE);
  world.put('hourly', { definition: { name: 'hourly', scraper: 'shop', every: '1h', ...definition } });
  world.now = TEN + 5;
  return world;
}

async function fire(coordinator: Coordinator, name: string, fired = atTen): Promise<'ack' | 'back'> {
  const { answered } = coordinator.due(name, fired);
  await coordinator.handled();
  return answered;
}

t.test('due: submitted, made a run of, sealed, noted, acknowledged', async (t) => {
  const urls = ['https://a.example/', 'https://b.example/'];
  const world = hourlyWorld({ priority: 3, params: { depth: 2 }, urls });
  const done: string[] = [];
  const coordinator = world.coordinator((what) => {
    if (what.startsWith('after')) done.push(what.slice(6));
  });
  t.equal(await fire(coordinator, 'hourly'), 'ack');
  t.same(done, [
    ...['get', 'store'], // the decision
    ...['get', 'read run', 'submit', 'make run', 'seal run', 'store'],
    'get', // and nothing is left
  ]);
  t.same(world.submissions, [
    {
      scraper: 'shop',
      run: TEN_RUN,
      priority: 3,
      tasks: urls.map((url) => ({ url, input: { depth: 2 } })),
    },
  ]);
  t.match(world.runs.get(TEN_RUN), {
    scraper: 'shop',
    priority: 3,
    sealed: { messages: 1 },
    standing: false,
  });
  t.match(world.record('hourly'), { lastDueAt: TEN, firing: undefined });
  t.same(world.news, [{ kind: 'fired', schedule: 'hourly', run: TEN_RUN, dueAt: TEN, reason: 'due' }]);
  t.equal(await fire(coordinator, 'hourly'), 'ack', 'the same time once more');
  t.equal(world.submissions.length, 1);
});

t.test('without addresses it is one task, and stagger makes it wait', async (t) => {
  const world = hourlyWorld({ params: { depth: 2 }, stagger: '50m' });
  await fire(world.coordinator(), 'hourly');
  const [submission] = world.submissions;
  t.same(submission?.tasks, [{ key: TEN_RUN, input: { depth: 2 } }]);
  const { notBefore = 0 } = submission ?? {};
  t.ok(notBefore > world.now && notBefore < TEN + 50 * 60_000, String(notBefore));
});

t.test('wherever a coordinator falls, the next one makes one run of it', async (t) => {
  let steps = 0;
  const counted = hourlyWorld();
  await fire(
    counted.coordinator(() => void (steps += 1)),
    'hourly',
  );
  t.ok(steps > 15, `${steps} steps`);
  for (let fallAt = 1; fallAt <= steps; fallAt += 1) {
    const world = hourlyWorld();
    let at = 0;
    const falling = world.coordinator(() => {
      at += 1;
      if (at >= fallAt) throw new Error('fell');
    });
    t.equal(await fire(falling, 'hourly'), 'back', `at step ${fallAt}`);
    t.equal(await fire(world.coordinator(), 'hourly'), 'ack');
    t.same([...world.runs.keys()], [TEN_RUN]);
    t.same(new Set(world.submissions.map(({ run }) => run)), new Set([TEN_RUN]));
    t.match(world.runs.get(TEN_RUN), { sealed: { messages: 1 } });
    t.match(world.record('hourly'), { lastDueAt: TEN, firing: undefined });
  }
});

t.test('who finds a decision that nobody carried out, the leader say, carries it out', async (t) => {
  const world = hourlyWorld();
  const falling = world.coordinator((what) => {
    if (what === 'before submit') throw new Error('fell');
  });
  t.equal(await fire(falling, 'hourly'), 'back');
  t.match(world.record('hourly'), { firing: { run: TEN_RUN } });
  await world.coordinator().look();
  t.equal(world.submissions.length, 1);
  t.match(world.record('hourly'), { lastDueAt: TEN, firing: undefined });
});

t.test('several at once, in any order, with times that mean the same: one run', async (t) => {
  for (let round = 0; round < 200; round += 1) {
    const world = hourlyWorld();
    // The server began the interval anew a little later: only one of the two times may have its run.
    const fired = [atTen, { firedAt: TEN + 90_000, nextAt: TEN + 90_000 + HOUR_MS }];
    world.now = TEN + 91_000;
    const wander = async (): Promise<void> => {
      for (let left = random.int(0, 4); left > 0; left -= 1) await Promise.resolve();
    };
    const coordinators = Array.from({ length: 3 }, () => world.coordinator(wander));
    const answers = coordinators.map((each, i) => each.due('hourly', fired[i % 2] ?? atTen).answered);
    await Promise.all([
      ...coordinators.map((each) => each.handled()),
      world.coordinator(wander).loop.complete('hourly'),
    ]);
    t.same(await Promise.all(answers), ['ack', 'ack', 'ack']);
    if (world.runs.size !== 1) t.fail(`round ${round}: ${[...world.runs.keys()].join()}`);
    t.equal(world.news.length, 1);
  }
});

t.test('while its last run is open: left out, or in line', async (t) => {
  for (const overlap of ['skip', 'queue']) {
    const world = hourlyWorld({ overlap });
    const coordinator = world.coordinator();
    await fire(coordinator, 'hourly');
    world.now = TEN + HOUR_MS;
    const atEleven = { firedAt: TEN + HOUR_MS, nextAt: TEN + 2 * HOUR_MS };
    await fire(coordinator, 'hourly', atEleven);
    t.equal(world.runs.size, overlap === 'skip' ? 1 : 2, overlap);
    t.equal(world.record('hourly')?.lastDueAt, TEN + HOUR_MS, 'dealt with either way');
    t.equal(world.news.at(-1)?.kind, overlap === 'skip' ? 'skipped' : 'fired');
    world.endRun(TEN_RUN);
    world.now = TEN + 2 * HOUR_MS;
    await fire(coordinator, 'hourly', { firedAt: world.now, nextAt: world.now + HOUR_MS });
    t.equal(world.runs.size, overlap === 'skip' ? 2 : 3);
  }
});

t.test('a run of a schedule with a longer name is another one’s', async (t) => {
  const world = hourlyWorld();
  world.put('hourly-2', { definition: { name: 'hourly-2', scraper: 's', every: '1h' } });
  await fire(world.coordinator(), 'hourly-2');
  await fire(world.coordinator(), 'hourly');
  t.same([...world.runs.keys()].sort(), ['hourly-2-20260105T100000Z', TEN_RUN]);
  t.ok(isRunOf('a', runOf('a', NINE)) && isRunOf('a', runByHand('a', { now: NINE, random: 0 })));
  t.notOk(isRunOf('a', runOf('a-b', NINE)) || isRunOf('a', 'a-b') || isRunOf('a', 'a'));
  const longest = runByHand('n'.repeat(40), { now: NINE, random: 0.999999999999 });
  t.match(longest, /^n{40}-20260105T090000Z-z{6}$/);
  t.ok(longest.length <= 64);
});

t.test('broken ones are told of and let go; the others fire', async (t) => {
  const world = hourlyWorld();
  world.putBytes('corrupt', new TextEncoder().encode('{"definition":'));
  world.put('senseless', { definition: { name: 'senseless', scraper: 's', every: 'often' } });
  const coordinator = world.coordinator();
  const answers = ['corrupt', 'senseless', 'hourly'].map((name) => coordinator.due(name, atTen).answered);
  const byHand = coordinator.due('hourly', { firedAt: TEN, nextAt: Number.NaN }).answered;
  await coordinator.handled();
  t.same(await Promise.all([...answers, byHand]), ['ack', 'ack', 'ack', 'ack']);
  t.same([...world.runs.keys()], [TEN_RUN]);
  const broken = world.news.filter(({ kind }) => kind === 'broken');
  t.same(broken.map(({ schedule }) => schedule).sort(), ['corrupt', 'hourly', 'senseless']);

  world.news.length = 0;
  await coordinator.look();
  await coordinator.look();
  t.same(
    world.news.map(({ schedule }) => schedule).sort(),
    ['corrupt', 'senseless'],
    'the leader tells once',
  );
});

t.test('what was removed, and still fires, is stopped', async (t) => {
  const world = createScheduleWorld(TEN);
  world.planned.set('gone', { seq: 1, definition: {} });
  t.equal(await fire(world.coordinator(), 'gone'), 'ack');
  t.equal(world.planned.size, 0);
  t.same(world.news, []);
});

t.test('the leader makes up for what the server left out, once', async (t) => {
  const world = hourlyWorld();
  world.put('none', { definition: { name: 'none', scraper: 's', every: '1h', catchUp: 'none' } });
  world.put('paused', { paused: true, definition: { name: 'paused', scraper: 's', every: '1h' } });
  await world.coordinator().look();
  t.equal(world.runs.size, 0, 'a moment is no delay');
  world.now = TEN + 2.5 * HOUR_MS;
  await Promise.all([world.coordinator().look(), world.coordinator().look()]);
  t.same([...world.runs.keys()], ['hourly-20260105T120000Z'], 'one for all that passed');
  t.equal(world.record('none')?.lastDueAt, undefined);

  // The server began anew, at another minute: what it fires counts where nothing was made up for.
  const anew = { firedAt: world.now, nextAt: world.now + HOUR_MS };
  await fire(world.coordinator(), 'none', anew);
  await fire(world.coordinator(), 'hourly', anew);
  t.same([...world.runs.keys()], ['hourly-20260105T120000Z', 'none-20260105T123000Z']);
});

t.test('a server that counts from its restart is brought back into step', async (t) => {
  const world = hourlyWorld();
  const definition = { name: 'hourly', scraper: 'shop', every: '1h' };
  world.planned.set('hourly', { seq: 1, definition });
  world.now = TEN + 4_999;
  await world.coordinator().look();
  t.equal(world.planned.get('hourly')?.seq, 1, 'the server may still be about to fire');
  world.now = TEN + 6_000;
  await world.coordinator().look();
  t.same([...world.runs.keys()], [TEN_RUN], 'made up for within seconds');
  const anew = world.planned.get('hourly')?.seq ?? 0;
  t.ok(anew > 1, 'and planned anew');
  await world.coordinator().look();
  t.equal(world.planned.get('hourly')?.seq, anew, 'once');
  const next = world.now + HOUR_MS;
  world.endRun(TEN_RUN);
  world.now = next;
  await fire(world.coordinator(), 'hourly', { firedAt: next, nextAt: next + HOUR_MS });
  t.equal(world.runs.size, 2, 'what it fires from then on counts');
});

t.test('the leader keeps the server’s messages as the records want them', async (t) => {
  const world = hourlyWorld();
  const definition = (name: string) => ({ name, scraper: 's', every: '1h' });
  for (const name of ['right', 'other', 'stopped']) world.put(name, { definition: definition(name) });
  world.put('stopped', { definition: definition('stopped'), paused: true });
  world.putBytes('corrupt', new Uint8Array([1]));
  world.planned.set('right', { seq: 1, definition: definition('right') });
  world.planned.set('other', { seq: 2, definition: { ...definition('other'), every: '2h' } });
  for (const name of ['stopped', 'orphan', 'corrupt'])
    world.planned.set(name, { seq: 3, definition: definition(name) });
  await world.coordinator().look();
  t.same([...world.planned.keys()].sort(), ['corrupt', 'hourly', 'other', 'right']);
  t.same(world.planned.get('other')?.definition, definition('other'));
  t.equal(world.planned.get('right')?.seq, 1, 'left as it was');
});

t.test('whoever saw the submission first made the run without its priority', async (t) => {
  const world = hourlyWorld({ priority: 7 });
  const coordinator = world.coordinator((what) => {
    if (what === 'after submit') world.runs.set(TEN_RUN, discovered());
  });
  await fire(coordinator, 'hourly');
  t.match(world.runs.get(TEN_RUN), { priority: 7, sealed: { messages: 1 } });

  function discovered() {
    const at = world.now;
    const run = { id: TEN_RUN, scraper: 'shop', priority: 0, taken: 0, standing: false };
    return { ...run, state: 'queued' as const, createdAt: at, lastSubmitAt: at };
  }
});

t.test('the example with three games: a first run each, and 3, 2 and 2 more in three hours', async (t) => {
  const file = join(projectRoot, 'config/examples/dmarket/schedules.yaml');
  const { schedules } = parse(readFileSync(file, 'utf8')) as { schedules: object[] };
  const world = createScheduleWorld(NINE);
  const coordinator = world.coordinator();
  const { schedules: store } = world;
  const ports = {
    schedules: store,
    loop: coordinator.loop,
    messageMaxBytes: () => 1_048_576,
    now: () => world.now,
  };
  const services = createScheduleServices(ports);
  for (const definition of schedules) await services['schedule.add']?.(definition);
  t.equal(world.runs.size, 3, 'a first run each');
  t.same(
    world.submissions.map(({ priority }) => priority),
    [0, 1, 2],
  );
  t.same(
    world.submissions.map(({ tasks }) => tasks[0]?.input?.['game']),
    ['a8db', '9a92', '730'],
  );

  const until = NINE + 3 * HOUR_MS;
  const specs = schedules.map((definition) => specOf(definition));
  const firings = specs
    .flatMap((spec) => nextTimes(spec, { from: NINE, count: 10 }).map((dueAt) => ({ spec, dueAt })))
    .filter(({ dueAt }) => dueAt <= until)
    .sort((a, b) => a.dueAt - b.dueAt);
  for (const { spec, dueAt } of firings) {
    for (const id of world.runs.keys()) world.endRun(id);
    world.now = dueAt + 4;
    const everyMs = spec.timing.kind === 'every' ? spec.timing.everyMs : 0;
    await fire(coordinator, spec.name, { firedAt: dueAt + 2, nextAt: dueAt + everyMs });
  }
  const further = specs.map(
    ({ name }) => [...world.runs.keys()].filter((run) => isRunOf(name, run)).length - 1,
  );
  t.same(further, [3, 2, 2]);
  t.ok(specs.every((spec) => tasksOf(spec, 'r').length === 1));
});

function specOf(definition: unknown): ScheduleSpec {
  const parsed = parseSchedule(definition, NINE);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.spec;
}
