/** `trawl proxies`: the pool of proxies, and how each of them is doing. */
import { PROXY_STATES } from '../../domain/egress.ts';
import type { Command } from '../command.ts';

export const proxiesCommand: Command = {
  usage: 'proxies <action> [proxies..]',
  describe: 'Add, import, list, show, freeze, reset or remove proxies',
  examples: [
    ['$0 proxies add http://user:password@proxy.example:8080', 'One more; its id is made from its address'],
    ['$0 proxies add socks5://127.0.0.1:9050 --id tor-1 --on worker-7', 'One that only that machine reaches'],
    [
      '$0 proxies add socks5://127.0.0.1:9050-9059 --id tor --control 127.0.0.1:9051 --on worker-7',
      'A port of Tor for each worker or slot: tor-9050 and on',
    ],
    [
      '$0 proxies import list.txt --tag dc',
      'Many: one per line, also as host:port:user:password; - is stdin',
    ],
    ['$0 proxies ls --state disabled', 'State, reason, health and use of each'],
    ['$0 proxies freeze tor-1 --reason maintenance', 'Not used until it is reset'],
    ['$0 proxies reset tor-1', 'As new: free, its count at zero'],
    ['$0 proxies rm tor-1', 'Gone; who holds it loses it'],
  ],
  sections: ['nats', 'general'],
  own: ['id'],
  options: (yargs) =>
    yargs
      .positional('action', {
        choices: ['add', 'import', 'ls', 'show', 'freeze', 'reset', 'rm'] as const,
        demandOption: true,
      })
      .positional('proxies', {
        type: 'string',
        array: true,
        describe: 'Addresses (add; a range of ports is many), a file (import), or ids',
      })
      .option('id', { type: 'string', describe: 'Name of the proxy (add of a single one)' })
      .option('weight', {
        type: 'string',
        describe: 'How often it is chosen by weight; 1 without it (add, import)',
      })
      .option('per-hour', { type: 'string', describe: 'Requests within an hour; 0: no limit (add, import)' })
      .option('per-minute', {
        type: 'string',
        describe: 'Requests within a minute; 0: no limit (add, import)',
      })
      .option('exclusive', {
        type: 'boolean',
        describe: 'One worker at a time may use it (add, import)',
      })
      .option('on', { type: 'string', describe: 'The machine that alone reaches it (add, import)' })
      .option('control', {
        type: 'string',
        describe: 'Where Tor takes its commands: tcp://:password@127.0.0.1:9051 (add)',
      })
      .option('tag', {
        type: 'string',
        describe: 'A word to find it by; may be repeated (add, import; ls: one)',
      })
      .option('state', { choices: PROXY_STATES, describe: 'Only those in this state (ls)' })
      .option('reason', { type: 'string', describe: 'Why (freeze)' }),
  load: () => import('../effects/proxies.ts'),
};
