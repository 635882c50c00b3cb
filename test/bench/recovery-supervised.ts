/** Workers of `trawl up`: the supervisor starts the dead one again, which asks who holds what, and gives back the rest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../src/client/client.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readClusterState, recordsOf } from '../../src/local/state.ts';
import { connectNats } from '../../src/nats/connect.ts';
import { quietLog, temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { installTrawl } from '../kit/trawl.ts';
import { names } from './harness/ledger-check.ts';
import type { Bench } from './harness/report.ts';
import { writeHoldScraper } from './harness/starts.ts';
import {
  HELD,
  killHolding,
  pauseAll,
  resumeAll,
  TASK_MS,
  readKill,
  untilAllDone,
  type KillRow,
} from './recovery-kills.ts';

export const SUPERVISED = 'started again by `trawl up`';

export async function killSupervised(
  t: Teardown,
  bench: Bench,
  { kills, workers }: { kills: number; workers: number },
): Promise<readonly KillRow[]> {
  const scrapers = temporaryFolder(t);
  const starts = writeHoldScraper(scrapers, TASK_MS);
  const trawl = await installTrawl(t, {
    WORKERS: String(workers),
    TRAWL_AUTOSCALE_MIN: String(workers),
    TRAWL_WORKER_CONCURRENCY: String(HELD),
    TRAWL_WORKER_SCRAPERS: scrapers,
  });
  const { code, stderr } = await trawl.run('up');
  if (code !== 0) throw new Error(`trawl up: ${stderr}`);
  const connection = await connectNats({
    access: {
      url: [`nats://127.0.0.1:${trawl.portBase}`],
      user: 'trawl',
      password: new Secret(readFileSync(join(trawl.home, 'secrets/app.password'), 'utf8').trim()),
    },
    name: 'bench',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());
  const pidOf = (id: string): number => {
    const state = readClusterState(join(trawl.home, 'cluster.json'));
    return recordsOf(state).find(({ name }) => name === id)?.pid ?? 0;
  };
  const client = createClient(connection, { names, durability: 'interval' });
  const killing = { connection, client, starts, pidOf };
  const ids = Array.from({ length: workers }, (_, n) => `worker-${n + 1}`);
  const rows: KillRow[] = [];
  for (let n = 0; n < kills; n += 1) {
    const victim = ids[n % workers] ?? '';
    await pauseAll(connection, ids);
    await resumeAll(connection, [victim]);
    const killed = await killHolding(killing, victim, n);
    await resumeAll(
      connection,
      ids.filter((id) => id !== victim),
    );
    await untilAllDone(killing, n + 1);
    rows.push(readKill(killing, SUPERVISED, killed));
    bench.say(
      `  ${SUPERVISED}: ${victim} was killed, its last task waited ${Math.max(...(rows.at(-1)?.waitsMs ?? []))} ms`,
    );
  }
  return rows;
}
