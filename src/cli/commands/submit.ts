/** `trawl submit`: a few tasks, with an answer for each. */
import type { Command } from '../command.ts';

export const submitCommand: Command = {
  usage: 'submit <scraper> [url..]',
  describe: 'Submit tasks to a scraper, and say what became of each',
  examples: [
    ['$0 submit prices https://shop.example/a', 'One page'],
    ['$0 submit prices --file urls.txt --run friday', 'All of a file, into a run of that name'],
    [
      'echo \'{"url":"https://shop.example/a","depth":2}\' | $0 submit prices --file -',
      'With a field for the scraper',
    ],
    [
      '$0 submit report --key 2026-01 --not-before 2026-02-01T06:00:00Z',
      'Without a URL, and not before a time',
    ],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('scraper', { type: 'string', demandOption: true })
      .positional('url', { type: 'string', array: true })
      .option('file', { type: 'string', nargs: 1, describe: 'One URL or JSON object per line; - is stdin' })
      .option('run', { type: 'string', describe: "The run to join; without it, the scraper's standing run" })
      .option('priority', { type: 'string', describe: '0 to 9; higher goes first' })
      .option('key', { type: 'string', describe: 'What tells the task apart, instead of its URL' })
      .option('not-before', {
        type: 'string',
        describe: 'Epoch milliseconds, or a time such as 2026-01-31T08:00:00Z',
      })
      .option('drop-tracking', {
        type: 'boolean',
        default: false,
        describe: 'Leave out utm_source, gclid and the like; the URL as it was is kept in rawUrl',
      }),
  load: () => import('../effects/submit.ts'),
};
