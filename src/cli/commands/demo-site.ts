/** `trawl demo-site`: a local site to try scrapers on, and fake proxies in front of it. */
import type { Command } from '../command.ts';

export const demoSiteCommand: Command = {
  usage: 'demo-site',
  describe: 'Run a local site to try scrapers on, until Ctrl-C',
  examples: [
    [
      '$0 demo-site',
      'On http://127.0.0.1:8088, where the workers of the local cluster may fetch; prints what is where',
    ],
    ['$0 demo-site --proxies 3 --https-port 8443', 'With three proxies, and https with a bad certificate'],
    [
      'curl -s http://127.0.0.1:8088/__proxies | $0 proxies import -',
      'Makes its proxies known to the cluster',
    ],
  ],
  sections: ['general', 'local'],
  options: (yargs) =>
    yargs
      .option('port', { type: 'string', describe: 'Where it listens, 8088 without it; 0 takes a free port' })
      .option('host', { type: 'string', describe: 'The address it listens on', default: '127.0.0.1' })
      .option('https-port', { type: 'string', describe: 'Also serve https, with a self-signed certificate' })
      .option('seed', { type: 'string', describe: 'Another seed is another site', default: '1' })
      .option('products', { type: 'string', describe: 'Size of the catalogue', default: '1000' })
      .option('proxies', { type: 'string', describe: 'Number of fake proxies', default: '0' }),
  load: () => import('../effects/demo-site.ts'),
};
