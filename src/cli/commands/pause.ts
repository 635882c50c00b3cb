/** `trawl pause` and `trawl resume`: hold work back, and let it go on. Both survive restarts. */
import type { Command } from '../command.ts';

export const pauseCommand: Command = {
  ...describe('pause', 'Hold back a run, a scraper, a host, or everything'),
  load: async () => ({ run: (await import('../effects/pause.ts')).pause }),
};

export const resumeCommand: Command = {
  ...describe('resume', 'Let go on what was paused'),
  load: async () => ({ run: (await import('../effects/pause.ts')).resume }),
};

function describe(verb: 'pause' | 'resume', meaning: string): Omit<Command, 'load'> {
  return {
    usage: `${verb} <kind> [name]`,
    describe: meaning,
    examples: [
      [`$0 ${verb} run friday`, 'One run'],
      [`$0 ${verb} scraper prices`, 'All runs of a scraper'],
      [`$0 ${verb} host shop.example`, 'All tasks for a host'],
      [`$0 ${verb} cluster`, 'Everything'],
    ],
    sections: ['nats', 'general'],
    options: (yargs) =>
      yargs
        .positional('kind', { choices: ['run', 'scraper', 'host', 'cluster'] as const, demandOption: true })
        .positional('name', { type: 'string' }),
  };
}
