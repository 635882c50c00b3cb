/** `trawl runs`: what runs there are, one of them in full, and the removal of what is over. */
import type { Command } from '../command.ts';

const STATES = [
  'queued',
  'active',
  'paused',
  'done',
  'done_with_errors',
  'cancelled',
  'interrupted',
] as const;

export const runsCommand: Command = {
  usage: 'runs <action> [run]',
  describe: 'List runs, show one, or remove one with all its results',
  examples: [
    ['$0 runs ls', 'All of them'],
    ['$0 runs ls --scraper prices --state active', 'Some of them'],
    ['$0 runs ls --single', 'Those of single mode, which are in folders of this machine'],
    ['$0 runs show friday', 'One in full'],
    ['$0 runs rm friday', 'Forget it, its tasks and its results'],
  ],
  sections: ['nats', 'general'],
  single: ({ action }) => (action === 'rm' ? 'folder' : 'coordinator'),
  options: (yargs) =>
    yargs
      .positional('action', { choices: ['ls', 'show', 'rm'] as const, demandOption: true })
      .positional('run', { type: 'string' })
      .option('scraper', { type: 'string', describe: 'Only runs of this scraper (ls)' })
      .option('single', { type: 'boolean', default: false, describe: 'Those of single mode (ls)' })
      .option('state', { choices: STATES, describe: 'Only runs in this state (ls)' }),
  load: () => import('../effects/runs.ts'),
};
