/** The autoscaler with ports of the test's own: the wish is stored before anybody acts, and by the leader alone. */
import t from 'tap';
import { createAutoscaler } from '../../src/actors/autoscaler.ts';
import type { AutoscalerOptions, AutoscalerPorts, ScaleDesk } from '../../src/actors/autoscaler/ports.ts';
import { Failure } from '../../src/domain/failure.ts';
import { SCALE_DEFAULTS } from '../../src/policy/autoscale/limits.ts';
import type { Load } from '../../src/policy/autoscale/load.ts';
import type { ScaleRecord } from '../../src/wire/scale-record.ts';
import { quietLoad } from '../kit/autoscale-scenarios.ts';
import { quietLog } from '../kit/nats-server.ts';
import { makeWorker } from '../kit/snapshots.ts';

const NOW = 1_000_000_000;
const options: AutoscalerOptions = {
  limits: SCALE_DEFAULTS,
  intervalMs: 60_000,
  driver: 'process',
  source: 'exporter',
};

interface World {
  readonly did: string[];
  readonly saved: ScaleRecord[];
  readonly announced: { kind: string; facts: object }[];
  desk: ScaleDesk | undefined;
}

/** One look, then `during`, then the end of the term. */
async function oneLook(
  changes: {
    load?: Partial<Load> | 'none';
    count?: () => Promise<number | undefined>;
    save?: () => void;
    apply?: () => Promise<void>;
    before?: ScaleRecord;
    options?: Partial<AutoscalerOptions>;
  },
  during: (world: World, desk: ScaleDesk) => Promise<void> = async () => undefined,
): Promise<World & { failure: unknown }> {
  const world: World = { did: [], saved: [], announced: [], desk: undefined };
  const over = new AbortController();
  let looked = (): void => undefined;
  const first = new Promise<void>((resolve) => (looked = resolve));
  const { load = {} } = changes;
  const ports: AutoscalerPorts = {
    id: 'a1',
    async lead(_quiet, work) {
      await work({
        over: over.signal,
        load: async () => changes.before,
        async save(record) {
          changes.save?.();
          world.did.push(`save ${record.action} ${record.desired}`);
          world.saved.push(record);
        },
        async serve(desk) {
          world.desk = desk;
          return async () => void world.did.push('close');
        },
      });
    },
    async measure() {
      if (load === 'none') throw new Failure('UNAVAILABLE', 'no exporter answers');
      return { load: { ...quietLoad, at: NOW, ...load }, workers: [makeWorker({ id: 'w1' })] };
    },
    count: changes.count ?? (() => Promise.resolve(undefined)),
    async apply({ from, to }) {
      world.did.push(`apply ${from} ${to}`);
      await changes.apply?.();
    },
    guard: () => undefined,
    announce(kind, facts) {
      world.announced.push({ kind, facts });
      // The last thing that a look without a change does.
      setImmediate(looked);
    },
    now: () => NOW,
    log: quietLog,
  };
  const stop = { quiet: new AbortController().signal, abort: new AbortController().signal };
  const running = createAutoscaler(ports, { ...options, ...changes.options }).run(stop);
  const failed = running.then(
    () => undefined,
    (error: unknown) => error,
  );
  await Promise.race([first, failed]);
  if (world.desk) await during(world, world.desk);
  over.abort();
  return { ...world, failure: await failed };
}

t.test('the wish, then the deed', async (t) => {
  const { did, saved, announced } = await oneLook({ load: { ready: 500, busy: 6 } });
  t.strictSame(did.slice(0, 2), ['save up 6', 'apply 2 6']);
  t.match(saved[0], {
    desired: 6,
    at: NOW,
    action: 'up',
    reason: 'backlog',
    by: 'a1',
    lastUpAt: NOW,
    decisions: { up: 1, down: 0, hold: 0, repair: 0 },
  });
  t.match(announced[0], {
    kind: 'decided',
    facts: {
      from: 2,
      to: 6,
      action: 'up',
      inputs: { load: { ready: 500 }, backlog: 500 },
      words: /6 workers needed/,
    },
  });
});

t.test('without a change nothing is done, and it is counted and told', async (t) => {
  const before: ScaleRecord = {
    desired: 2,
    at: 1,
    action: 'hold',
    reason: 'steady',
    by: 'a0',
    lastUpAt: 7,
    decisions: { up: 3, down: 2, hold: 9, repair: 1 },
  };
  const { did, saved, announced } = await oneLook({ before });
  t.strictSame(did, ['save hold 2', 'close']);
  t.match(saved[0], { decisions: { up: 3, down: 2, hold: 10, repair: 1 }, lastUpAt: 7, by: 'a1' });
  t.equal(announced.length, 1);
});

t.test('one that no longer leads does not act', async (t) => {
  const { did, announced, failure } = await oneLook({
    load: { ready: 500, busy: 6 },
    save() {
      throw new Failure('CONFLICT', 'somebody else leads');
    },
  });
  t.match(failure, { code: 'CONFLICT' }, 'its term is over');
  t.strictSame(did, ['close'], 'no deed');
  t.strictSame(announced, [], 'and no news');
});

t.test('what cannot be measured is left as it is', async (t) => {
  const { did, saved } = await oneLook({ load: 'none', count: () => Promise.resolve(5) });
  t.strictSame(did, ['save hold 5', 'close']);
  t.equal(saved[0]?.reason, 'no-metrics');
});

t.test('a driver that cannot count', async (t) => {
  const { saved } = await oneLook({ load: { live: 3 }, count: () => Promise.reject(new Error('away')) });
  t.match(saved[0], { desired: 2, action: 'down' }, 'those that live count');
});

t.test('a deed that fails is told, and may be tried again at once', async (t) => {
  const { did, saved, announced } = await oneLook(
    { load: { ready: 500, busy: 6 }, apply: () => Promise.reject(new Failure('REJECTED', 'no quota')) },
    async (_, desk) => {
      await desk.scale(2); // waits for its turn, so the first has ended
    },
  );
  t.strictSame(did.slice(0, 3), ['save up 6', 'apply 2 6', 'save up 2']);
  t.equal(saved[1]?.lastUpAt, undefined, 'it does not rest');
  t.match(announced[1], { kind: 'failed', facts: { from: 2, to: 6, reason: 'no quota' } });
});

t.test('by hand', async (t) => {
  const { did, saved } = await oneLook({}, async (_, desk) => {
    t.match(await desk.scale(5), { from: 2, to: 5, action: 'up', reason: 'manual' });
    await t.rejects(desk.scale(1), {
      code: 'INVALID',
      message: '1 workers are not between 2 and 20',
    });
    await t.rejects(desk.scale(21), { code: 'INVALID' });
    t.match(desk.status(), {
      leader: 'a1',
      driver: 'process',
      record: { desired: 5 },
      words: /somebody asked/,
    });
  });
  t.strictSame(did.slice(0, 3), ['save hold 2', 'save up 5', 'apply 2 5']);
  t.match(saved[1], { lastUpAt: NOW, lastDownAt: NOW }, 'both cooldowns begin');
});

t.test('by hand, where the driver fails, or there is none', async (t) => {
  await oneLook({ apply: () => Promise.reject(new Failure('REJECTED', 'no quota')) }, async (_, desk) => {
    await t.rejects(desk.scale(5), { message: 'no quota' });
  });
  await oneLook({ options: { driver: 'none' } }, async ({ did }, desk) => {
    await t.rejects(desk.scale(5), { code: 'REJECTED', hint: /autoscale\.driver/ });
    t.strictSame(did, ['save hold 2']);
  });
});
