/** `trawl worker`, `trawl coordinator`, …, `trawl all`: run actors in this process until told to stop. */
import type { Argv } from 'yargs';
import { STANDING_ROLES } from '../../domain/role.ts';
import type { Command } from '../command.ts';

const MEANING: Readonly<Record<(typeof STANDING_ROLES)[number] | 'all', string>> = {
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

export const actorCommands: readonly Command[] = [...STANDING_ROLES, 'all' as const].map((role) => ({
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
  sections: [
    'nats',
    'actor',
    'worker',
    'guard',
    'autoscale',
    'tasks',
    'heartbeat',
    'leader',
    'http',
    'log',
    'general',
  ],
  load: async () => ({ run: (await import('../effects/actor.ts')).actOut(role) }),
}));

function workerOptions(yargs: Argv): Argv {
  return yargs
    .option('scraper', {
      type: 'string',
      describe: 'Work for this scraper alone, and leave the tasks of others to other workers',
    })
    .option('until-empty', { type: 'boolean', default: false, describe: 'End when nothing is left to do' })
    .option('run-id', { type: 'string', describe: 'End when nothing is left to do of this run' });
}
