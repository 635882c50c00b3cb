/** `trawl try`: one task of a scraper, here and now, without the cluster. */
import type { Argv } from 'yargs';
import type { Command } from '../command.ts';

export function tryOptions(yargs: Argv): Argv {
  return yargs
    .positional('name', { type: 'string', demandOption: true, describe: 'A scraper, or its file' })
    .option('url', { type: 'string', describe: 'The address of the task' })
    .option('input', { type: 'string', describe: 'What else the task is given, as JSON' })
    .option('proxy', {
      type: 'string',
      describe: 'Go through this one: http://user:password@host:port, https://… or socks5://…',
    })
    .option('direct', {
      type: 'boolean',
      default: false,
      describe: "From this machine's own address, although the scraper wants a proxy",
    });
}

export const tryCommand: Command = {
  usage: 'try <name>',
  describe: 'Run one task of a scraper here and now, and show what it did; no cluster is needed',
  examples: [
    ['$0 try prices --url https://example.com/', 'Its requests, items, errors, and what it would enqueue'],
    ['$0 try prices --url https://example.com/ --proxy socks5://127.0.0.1:9050', 'Through a proxy'],
    ['$0 try ./prices.mjs --input \'{"page":2}\' --json', 'A file, an input, for a script'],
  ],
  sections: ['worker', 'fetch', 'general'],
  options: tryOptions,
  load: () => import('../effects/try.ts'),
};
