/** `trawl new`: writes a scraper to begin with, and its test. */
import type { Command } from '../command.ts';

export const newCommand: Command = {
  usage: 'new <name>',
  describe: 'Write a new scraper and its test',
  examples: [
    ['$0 new prices', 'config/scrapers/prices.mjs and its test'],
    ['$0 new prices --ts', 'The same in TypeScript'],
    ['$0 new prices --template', 'A template of YAML: fields by selector, no code'],
  ],
  sections: ['worker', 'general'],
  options: (yargs) =>
    yargs
      .positional('name', { type: 'string', demandOption: true })
      .option('ts', { type: 'boolean', default: false, describe: 'In TypeScript' })
      .option('template', { type: 'boolean', default: false, describe: 'As a template, without code' }),
  load: () => import('../effects/new.ts'),
};
