/** `trawl observe`: a Prometheus beside the cluster, with our rules and alerts, until Ctrl-C. */
import type { Command } from '../command.ts';

export const observeCommand: Command = {
  usage: 'observe',
  describe: 'Run Prometheus on this cluster, until Ctrl-C',
  examples: [
    ['$0 observe', 'On http://127.0.0.1:9090; its data stays in the home of the cluster'],
    ['$0 observe --port 9100', 'On another port'],
  ],
  sections: ['general', 'nats', 'local'],
  options: (yargs) =>
    yargs.option('port', {
      type: 'string',
      describe: 'Where it listens, 9090 without it; 0 takes a free port',
    }),
  load: () => import('../effects/observe.ts'),
};
