/** `trawl call`: one scrape now, its answer on stdout, nothing of it stored. */
import { STRATEGIES } from '../../policy/route-call.ts';
import type { Command } from '../command.ts';

export const callCommand: Command = {
  usage: 'call <scraper>',
  describe: 'Scrape one page now and print what it brings; nothing is stored',
  examples: [
    ['$0 call prices --url https://shop.example/1', 'Items, one JSON line each'],
    [`$0 call prices --input '{"sku":7}' --strategy round_robin --timeout 10s`, 'Which worker, and how long'],
    ['$0 call prices --url https://shop.example/1 --json', 'The whole answer, with worker and timing'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('scraper', { type: 'string', demandOption: true })
      .option('url', { type: 'string', nargs: 1, describe: 'The page' })
      .option('key', { type: 'string', nargs: 1, describe: 'What names the task, where there is no URL' })
      .option('input', { type: 'string', nargs: 1, describe: 'JSON object for the scraper' })
      .option('strategy', { choices: STRATEGIES, default: 'least_loaded', describe: 'Which worker is asked' })
      .option('timeout', { type: 'string', nargs: 1, default: '60s', describe: 'How long it may take' }),
  load: () => import('../effects/call.ts'),
};
