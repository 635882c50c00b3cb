/** The leader's housekeeping: at once where something is to be done, and asleep where nothing is. */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { createHousekeeping } from '../../src/actors/coordinator/housekeeping.ts';
import type { RunRecord } from '../../src/wire/run-record.ts';
import { quietLog, type Teardown } from '../kit/nats-server.ts';

const EVERY_MS = 10;

function run(id: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    ...{ id, scraper: 's', state: 'active', priority: 0, createdAt: 0, lastSubmitAt: 0, taken: 0 },
    standing: false,
    ...more,
  };
}

function startHouse(t: Teardown, keepMs = 60_000) {
  const runs = new Map<string, RunRecord>();
  const done: string[] = [];
  let looks = 0;
  let tell = (): void => undefined;
  const house = createHousekeeping(
    {
      giveBackTasksOf: () => Promise.resolve(0),
      runs() {
        looks += 1;
        return [...runs.values()];
      },
      onRuns(listener) {
        tell = listener;
        return () => (tell = () => undefined);
      },
      countOpen: () => Promise.resolve(0),
      cancelLeft: () => Promise.resolve(0),
      finish(id) {
        done.push(`finished ${id}`);
        runs.delete(id);
        return Promise.resolve();
      },
      finishRedrives: () => Promise.resolve(0),
      erase(id) {
        done.push(`erased ${id}`);
        runs.delete(id);
        return Promise.resolve(1);
      },
      now: Date.now,
      log: quietLog,
    },
    { everyMs: EVERY_MS, keepMs },
  );
  const over = new AbortController();
  const ended = house.run(over.signal);
  t.teardown(async () => {
    over.abort();
    await ended;
  });
  return {
    done,
    looks: () => looks,
    put(record: RunRecord) {
      runs.set(record.id, record);
      tell();
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(5);
}

t.test('with nothing to do it does not look again and again', async (t) => {
  const house = startHouse(t);
  house.put(run('active'));
  await delay(10 * EVERY_MS);
  const before = house.looks();
  await delay(20 * EVERY_MS);
  t.equal(house.looks(), before);
});

t.test('a run that is cancelled is cleared at once', async (t) => {
  const house = startHouse(t);
  await delay(10 * EVERY_MS);
  house.put(run('r', { state: 'cancelled' }));
  await until(() => house.done.length > 0);
  t.same(house.done, ['finished r']);
});

t.test('a run that ended long ago goes when its time has come, though nothing changes', async (t) => {
  const house = startHouse(t, 150);
  house.put(run('r', { state: 'done', endedAt: Date.now() }));
  const began = performance.now();
  await until(() => house.done.length > 0);
  t.same(house.done, ['erased r']);
  t.ok(performance.now() - began < 5_000);
});
