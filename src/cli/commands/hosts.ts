/** `trawl hosts`: what hosts ask of us, and which of them are closed. */
import type { Command } from '../command.ts';

export const hostsCommand: Command = {
  usage: 'hosts <action> [host]',
  describe: 'List hosts, show one, set its limits, close or open it for everybody',
  examples: [
    ['$0 hosts ls --state closed', 'Those that asked for rest'],
    ['$0 hosts show shop.example', 'One in full'],
    ['$0 hosts set shop.example --delay 2s --concurrency 4', 'What it allows; the rest stays as it is'],
    ['$0 hosts close shop.example --for 10m --reason deploy', 'Nobody asks it anything for ten minutes'],
    ['$0 hosts open shop.example', 'At once, and at full speed'],
  ],
  sections: ['nats', 'general'],
  own: ['concurrency'],
  options: (yargs) =>
    yargs
      .positional('action', { choices: ['ls', 'show', 'set', 'close', 'open'] as const, demandOption: true })
      .positional('host', { type: 'string' })
      .option('state', { choices: ['open', 'closed'] as const, describe: 'Only those (ls)' })
      .option('delay', { type: 'string', describe: 'Between two requests of anybody: 500ms, 2s (set)' })
      .option('egress-delay', { type: 'string', describe: 'Between two requests through one proxy (set)' })
      .option('jitter', { type: 'string', describe: 'Delays are stretched by up to so many per cent (set)' })
      .option('concurrency', { type: 'string', describe: 'Requests at once; 0: no limit (set)' })
      .option('per-hour', { type: 'string', describe: 'Requests within an hour; 0: no limit (set)' })
      .option('per-minute', { type: 'string', describe: 'Requests within a minute; 0: no limit (set)' })
      .option('egress-hour', { type: 'string', describe: 'The same within an hour through one proxy (set)' })
      .option('egress-minute', {
        type: 'string',
        describe: 'The same within a minute through one proxy (set)',
      })
      .option('throttle-scope', {
        choices: ['host', 'egress'] as const,
        describe: 'Whom a "too many requests" stops: everybody, or the proxy that got it (set)',
      })
      .option('for', {
        type: 'string',
        describe: 'How long: 90s, 10m, 1h; without it until it is opened (close)',
      })
      .option('reason', { type: 'string', describe: 'Why (close)' }),
  load: () => import('../effects/hosts.ts'),
};
