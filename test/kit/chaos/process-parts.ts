/** What the processes of the chaos test have in common: settings from the environment, a connection, a log. */
import { loadConfig } from '../../../src/config/load.ts';
import { createActorId } from '../../../src/cluster/first-beat.ts';
import type { Config } from '../../../src/config/fields.ts';
import { openBucket, type Bucket } from '../../../src/nats/bucket.ts';
import { connectNats, type Connection } from '../../../src/nats/connect.ts';
import type { Announce } from '../../../src/nats/events.ts';
import { readLeaseMs } from '../../../src/nats/task-lease.ts';
import { createLog, type Log } from '../../../src/telemetry/log.ts';
import { createNames, type Names } from '../../../src/wire/names.ts';

export interface ProcessParts {
  readonly config: Config;
  readonly names: Names;
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly id: string;
  readonly log: Log;
  readonly announce: Announce;
  readonly leaseMs: number;
}

/** Now and then it dies when it is about to count what it has stored. */
const DIES_BEFORE_COUNT = 0.005;

export async function openProcess(role: string, diesBeforeCount = DIES_BEFORE_COUNT): Promise<ProcessParts> {
  const { config } = loadConfig({ flags: {}, env: process.env, cwd: process.cwd() });
  const names = createNames(config.namespace);
  const id = createActorId();
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const log = createLog({ level: config.log.level, format: 'json', write }).child({ role, id });
  const whole = await connectNats({
    access: config.nats,
    name: `${role} ${id}`,
    log,
    whenUnreachable: 'wait',
  });
  const connection = dyingBeforeCount(whole, { names, chance: diesBeforeCount });
  return {
    config,
    names,
    connection,
    bucket: openBucket(connection, names.bucket('cluster')),
    id,
    log,
    announce: ({ about, kind, facts }) => log.info(`${about}.${kind}`, { facts }),
    leaseMs: await readLeaseMs(connection, names),
  };
}

function dyingBeforeCount(
  connection: Connection,
  { names, chance }: { names: Names; chance: number },
): Connection {
  const counters = names.count('', '').slice(0, -1);
  const writeFrames: Connection['writeFrames'] = (bytes, messages) => {
    const isCount = Buffer.from(bytes.subarray(0, 200)).toString('latin1').startsWith(`HPUB ${counters}`);
    if (isCount && Math.random() < chance) process.kill(process.pid, 'SIGKILL');
    connection.writeFrames(bytes, messages);
  };
  return { ...connection, writeFrames };
}
