/** A proxy-manager as a process of its own, to be killed: says `leading` when somebody leads. */
import { connectNats } from '../../src/nats/connect.ts';
import { quietLog } from './nats-server.ts';
import { startManager } from './proxy-managers.ts';

const [id = 'pm'] = process.argv.slice(2);
const url = process.env['NATS_URL'] ?? '';
const settings = Object.entries(process.env).filter(
  (entry): entry is [string, string] => entry[0].startsWith('TRAWL_') && entry[1] !== undefined,
);
const server = {
  url,
  connect: (name = id) =>
    connectNats({ access: { url: [url] }, name, log: quietLog, whenUnreachable: 'wait' }),
};
// It ends by a signal: nothing is torn down.
await startManager({ teardown: () => undefined }, server, { id, env: Object.fromEntries(settings) });
process.stdout.write('leading\n');
