/** `trawl sessions`: who we are at which host. */
import { SESSION_STATES } from '../../domain/egress.ts';
import type { Command } from '../command.ts';

export const sessionsCommand: Command = {
  usage: 'sessions <action> [sessions..]',
  describe: 'List sessions, show one, retire some, or bring some along from a file',
  examples: [
    ['$0 sessions ls --host shop.example', 'Those of one host'],
    ['$0 sessions show 3f6c…', 'One of them'],
    ['$0 sessions rm 3f6c…', 'Not used any more'],
    ['$0 sessions import sessions.json', 'A JSON list, or one JSON object per line; - is stdin'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('action', { choices: ['ls', 'show', 'rm', 'import'] as const, demandOption: true })
      .positional('sessions', { type: 'string', array: true, describe: 'Ids, or a file (import)' })
      .option('host', { type: 'string', describe: 'Only those of this host (ls)' })
      .option('state', { choices: SESSION_STATES, describe: 'Only those in this state (ls)' }),
  load: () => import('../effects/sessions.ts'),
};
