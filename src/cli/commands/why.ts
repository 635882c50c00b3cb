/** `trawl why`: where one task is and how it got there, on one screen. */
import type { Command } from '../command.ts';

export const whyCommand: Command = {
  usage: 'why <task>',
  describe: 'Say where a task is, and what happened to it',
  examples: [
    ['$0 why 3kf0…', 'By its id'],
    ['$0 why 3kf0… --run friday', 'Where several runs have the same task'],
  ],
  sections: ['nats', 'general'],
  single: 'coordinator',
  options: (yargs) =>
    yargs
      .positional('task', { type: 'string', demandOption: true })
      .option('run', { type: 'string', describe: 'The run it belongs to' }),
  load: () => import('../effects/why.ts'),
};
