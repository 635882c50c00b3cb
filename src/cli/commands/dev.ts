/** `trawl dev`: `trawl try` again, whenever a file of the scrapers has changed. */
import type { Command } from '../command.ts';
import { tryOptions } from './try.ts';

export const devCommand: Command = {
  usage: 'dev <name>',
  describe: 'Like try, again after every change of the file, until Ctrl-C',
  examples: [['$0 dev prices --url https://example.com/', 'Write, save, look']],
  sections: ['worker', 'fetch', 'general'],
  options: tryOptions,
  load: () => import('../effects/dev.ts'),
};
