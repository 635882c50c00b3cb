/** `trawl demo`: scrapes the demo site on the cluster, before your eyes. */
import type { Command } from '../command.ts';

export const demoCommand: Command = {
  usage: 'demo [scraper]',
  describe: 'Scrape the demo site on the cluster: a live bar, then a table of results',
  examples: [
    ['$0 demo', 'The catalogue of the demo site, and four pages that cannot be had'],
    ['$0 demo --kill', 'The same, and in the middle a worker is killed with SIGKILL'],
    ['$0 demo prices', 'Some products with a scraper of your own, once the workers have loaded it'],
  ],
  sections: ['nats', 'general', 'local'],
  options: (yargs) =>
    yargs
      .positional('scraper', { type: 'string', default: 'catalogue' })
      .option('kill', {
        type: 'boolean',
        default: false,
        describe: 'Kill a worker of the local cluster in the middle, and count what became of it',
      })
      .option('products', { type: 'string', describe: 'Size of the catalogue', default: '300' })
      .option('run-id', { type: 'string', describe: 'Name of the run; without it demo, demo-2 and so on' }),
  load: () => import('../effects/demo.ts'),
};
