/** `trawl worker`, `trawl coordinator`, …, `trawl all`: run actors in this process until told to stop. */
import type { Argv } from 'yargs';
import { startCluster } from '../../cluster/start-cluster.ts';
import { ROLES, type Role } from '../../domain/role.ts';
import { announceReady } from '../../local/supervised.ts';
import { untilAborted } from '../../runtime/actor.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';

const MEANING: Readonly<Record<Role | 'all', string>> = {
  coordinator: 'Run a coordinator: follows the cluster, one of several leads',
  'proxy-manager': 'Run a proxy-manager: owns proxies, sessions and politeness, one of several leads',
  worker: 'Run a worker',
  exporter: 'Run an exporter: /metrics of the whole cluster',
  autoscaler: 'Run an autoscaler: decides the number of workers, one of several leads',
  all: 'Run one actor of each role in this process',
};

const WORKER_EXAMPLES: Command['examples'] = [
  ['$0 worker --until-empty', 'Works off what is there and ends'],
  [
    '$0 worker --scraper echo --run-id 20260215_120000',
    'For one scraper; ends when nothing of that run is left',
  ],
];

export const actorCommands: readonly Command[] = [...ROLES, 'all' as const].map((role) => ({
  usage: role,
  describe: MEANING[role],
  ...(role === 'worker' && { options: workerOptions }),
  examples: [
    ...(role === 'worker' ? WORKER_EXAMPLES : []),
    [`$0 ${role}`, 'On the local cluster, or on NATS at its usual port'],
    [
      `$0 ${role} --id ${role}-7 --nats-url nats://10.0.0.5:4222`,
      'Under a name of your choice, on another machine',
    ],
  ],
  sections: ['nats', 'actor', 'worker', 'tasks', 'heartbeat', 'leader', 'http', 'log', 'general'],
  async run({ config, log, interrupts, argv }) {
    const interrupted = interrupts();
    const cluster = await startCluster(config, {
      role,
      log,
      stop: interrupted,
      untilEmpty: untilEmptyOf(argv),
      onlyScraper: textOf(argv['scraper']),
    });
    announceReady();
    // Ends by a signal, by its mailbox, or because it cannot go on.
    await Promise.race([untilAborted(interrupted), cluster.done]);
    await cluster.stop();
    return EXIT.ok;
  },
}));

function workerOptions(yargs: Argv): Argv {
  return yargs
    .option('scraper', { type: 'string', describe: 'Work for this scraper alone' })
    .option('until-empty', { type: 'boolean', default: false, describe: 'End when nothing is left to do' })
    .option('run-id', { type: 'string', describe: 'End when nothing is left to do of this run' });
}

function untilEmptyOf(argv: Readonly<Record<string, unknown>>): { run?: string } | undefined {
  const run = textOf(argv['run-id']);
  if (run !== undefined) return { run };
  return argv['until-empty'] === true ? {} : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
