/** Workers that nobody starts again: their heartbeats end, and the coordinator gives back what they had in hand. */
import { createClient } from '../../src/client/client.ts';
import { createServices } from '../../src/nats/services-client.ts';
import type { Teardown } from '../kit/nats-server.ts';
import { names, untilQueueEmpty } from './harness/ledger-check.ts';
import type { Bench } from './harness/report.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { writeHoldScraper } from './harness/starts.ts';
import {
  HELD,
  killHolding,
  pauseAll,
  resumeAll,
  TASK_MS,
  readKill,
  untilAllDone,
  type Killed,
  type KillRow,
} from './recovery-kills.ts';
import { openStage, untilTrue } from './stage.ts';

export const ALONE = 'never started again';
/** Only to see that it runs: nobody waits two minutes for that. */
const QUICK_BEATS = { TRAWL_HEARTBEAT_INTERVAL: '1s', TRAWL_HEARTBEAT_DEAD_AFTER: '4s' };

/** Resolves when all are killed; then what is left is to wait. */
export async function killAlone(
  t: Teardown,
  bench: Bench,
  kills: number,
): Promise<{
  readonly recovered: () => Promise<{
    readonly rows: readonly KillRow[];
    readonly check: string;
    readonly versions: Readonly<Record<string, string>>;
  }>;
}> {
  const stage = await openStage(t, {
    sync: 'always',
    settings: { TRAWL_WORKER_CONCURRENCY: String(HELD), ...(bench.quick && QUICK_BEATS) },
  });
  const { connection } = stage;
  const starts = writeHoldScraper(stage.home, TASK_MS);
  stage.startActor('coordinator');
  const services = createServices(connection, names);
  await untilTrue(() =>
    services.call('stats', {}).then(
      () => true,
      () => false,
    ),
  );
  const victims = Array.from({ length: kills }, (_, n) => `victim-${n + 1}`);
  const heirs = ['heir-1', 'heir-2'];
  const pids = new Map<string, number>();
  for (const id of [...victims, ...heirs]) pids.set(id, stage.startActor('worker', { id }).pid ?? 0);
  await pauseAll(connection, [...victims, ...heirs]);
  const client = createClient(connection, { names, durability: 'always' });
  const killing = { connection, client, starts, pidOf: (id: string) => pids.get(id) ?? 0 };
  const killed: Killed[] = [];
  for (const victim of victims) {
    await resumeAll(connection, [victim]);
    killed.push(await killHolding(killing, victim, 1));
    bench.say(`  ${ALONE}: ${victim} is killed`);
  }
  await resumeAll(connection, heirs);
  return {
    async recovered() {
      await untilAllDone(killing, kills);
      const rows = killed.map((each) => readKill(killing, ALONE, each));
      await untilQueueEmpty(stage);
      const changed = [
        'worker.concurrency',
        ...(bench.quick ? ['heartbeat.interval', 'heartbeat.deadAfter'] : []),
      ];
      return { rows, check: await checkShipped(stage, changed), versions: natsVersion(stage) };
    },
  };
}
