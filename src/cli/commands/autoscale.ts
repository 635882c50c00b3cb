/** `trawl scale`, `trawl drain`, `trawl autoscale` and `trawl advise`: the size of the cluster, and why it is so. */
import { SCALE_POLICIES } from '../../domain/scale.ts';
import type { Command } from '../command.ts';

export const scaleCommand: Command = {
  usage: 'scale <target>',
  describe: 'Have so many workers now; the autoscaler goes on from there',
  examples: [
    ['$0 scale worker=6', 'Six workers; those that go finish their tasks first'],
    ['$0 scale worker=2 --json', 'The decision as JSON'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs.positional('target', { type: 'string', describe: 'worker=N', demandOption: true }),
  load: async () => ({ run: (await import('../effects/scale.ts')).scale }),
};

export const drainCommand: Command = {
  usage: 'drain <id>',
  describe: 'Let one actor finish what it has in hand and end',
  examples: [
    ['$0 drain worker-3', 'However long its tasks take'],
    ['$0 drain worker-3 --grace', 'What is not done after actor.grace goes to others'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('id', { type: 'string', describe: 'As `trawl status` shows it', demandOption: true })
      .option('grace', {
        type: 'boolean',
        default: false,
        describe: 'Give back what takes longer than actor.grace',
      }),
  load: async () => ({ run: (await import('../effects/scale.ts')).drain }),
};

export const autoscaleCommand: Command = {
  usage: 'autoscale <action>',
  describe: 'Show how the number of workers is decided: now, of late, why, and under another policy',
  examples: [
    ['$0 autoscale status', 'Who decides, by what, and the last decision'],
    ['$0 autoscale explain', 'Why the cluster has the size it has'],
    ['$0 autoscale history --since 2h', 'What was changed, and why; --all shows every look'],
    ['$0 autoscale replay --policy per_worker', 'What that policy would have done with the last hour'],
    ['$0 autoscale replay --max 50 --drain-target 10s', 'The same for other limits'],
  ],
  sections: ['nats', 'autoscale', 'general'],
  options: (yargs) =>
    yargs
      .positional('action', {
        choices: ['status', 'history', 'explain', 'replay'] as const,
        demandOption: true,
      })
      .option('since', { type: 'string', describe: 'How far back: 30m, 2h, 1d (history, replay)' })
      .option('all', { type: 'boolean', default: false, describe: 'Also when nothing was changed (history)' })
      .option('policy', { choices: SCALE_POLICIES, describe: 'Which one to try (replay)' })
      .option('min', { type: 'string', describe: 'With at least so many workers (replay)' })
      .option('max', { type: 'string', describe: 'With at most so many workers (replay)' })
      .option('drain-target', {
        type: 'string',
        describe: 'With this target of drain_time: 10s, 5m (replay)',
      }),
  load: () => import('../effects/autoscale.ts'),
};

export const adviseCommand: Command = {
  usage: 'advise',
  describe: 'Say what to do about backlog, errors and idle workers, by the last measurements',
  examples: [
    ['$0 advise', 'In words'],
    ['$0 advise --json', 'For a script'],
  ],
  sections: ['nats', 'advise', 'general'],
  load: () => import('../effects/advise.ts'),
};
