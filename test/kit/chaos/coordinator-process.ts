/**
 * A coordinator in a process of its own, put together from the real parts, with a bug if the first argument names one:
 *
 *   ack-early    acknowledges a submission before its tasks are in the queue
 *   count-blind  counts duplicates without a look at what is counted already
 *   none         has no bug
 *
 * Now and then it dies between the steps of taking a submission in, where a kill from outside seldom hits; with `ack-early`
 * in each life at least once, unless something else ends it before.
 */
import { createCoordinator, type CoordinatorPorts } from '../../../src/actors/coordinator.ts';
import {
  COORDINATOR_DEFAULTS,
  openTools,
  ownVerbs,
  portsOf,
} from '../../../src/cluster/coordinator-parts.ts';
import { openServiceDesk } from '../../../src/nats/service-desk.ts';
import { NO_COUNTS } from '../../../src/policy/counters.ts';
import { createStop } from '../../../src/runtime/actor.ts';
import { createCleanup } from '../../../src/runtime/cleanup.ts';
import { VERSION } from '../../../src/version.ts';
import type { Intake } from '../../../src/wire/intake.ts';
import { encodeCount } from '../../../src/wire/task-codec.ts';
import { openProcess } from './process-parts.ts';

const DIES = 0.06;
const DIES_AFTER_COUNT = 0.2;
const LIFE_MESSAGES = 5;

const [, , bug = 'none'] = process.argv;
const parts = await openProcess('coordinator');
const { connection, names } = parts;
const tools = await openTools(parts, createCleanup(parts.log));
const { intake, ledger, queue, ...rest } = portsOf(parts, tools);
let accepted = 0;
const blind = new Map<string, number>();

const ports: CoordinatorPorts = {
  ...rest,
  intake: bug === 'ack-early' ? { ...intake, messages: acknowledged } : intake,
  ledger: {
    ...ledger,
    async countDuplicates(count) {
      const counted = await (bug === 'count-blind' ? countBlindly(count) : ledger.countDuplicates(count));
      await mayDie(DIES_AFTER_COUNT);
      return counted;
    },
  },
  queue: {
    ...queue,
    async enqueue(tasks) {
      if (bug === 'ack-early' && tasks.length > 0) accepted += 1;
      await mayDie(accepted === LIFE_MESSAGES ? 1 : DIES);
      await queue.enqueue(tasks);
      await mayDie(DIES);
    },
  },
};

async function* acknowledged(...source: Parameters<Intake['messages']>): ReturnType<typeof intake.messages> {
  for await (const message of intake.messages(...source)) {
    message.ack();
    yield message;
  }
}

async function countBlindly({ run, duplicates }: { run: string; duplicates: number }): Promise<boolean> {
  const sum = (blind.get(run) ?? 0) + duplicates;
  blind.set(run, sum);
  const record = encodeCount({ ...NO_COUNTS, duplicates: sum, recent: [] });
  await connection.js.publish(names.count(run, `${parts.id}-blind`), record);
  return true;
}

async function mayDie(chance: number): Promise<void> {
  if (Math.random() >= chance) return;
  await connection.nc.flush();
  process.kill(process.pid, 'SIGKILL');
}

await openServiceDesk(connection, { ...parts, version: VERSION, verbs: ownVerbs(parts, tools) });
const limits = { ...COORDINATOR_DEFAULTS, runEnd: { idleEndMs: parts.config.runs.idleEnd } };
await createCoordinator(ports, limits).run(createStop(parts.config.actor.grace).stop);
