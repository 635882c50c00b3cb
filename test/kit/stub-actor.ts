/**
 * A process that behaves like an actor of a local cluster, or misbehaves on demand:
 *   serve     says that it is ready, ends on SIGTERM and when its supervisor is gone; ends with 2 on SIGUSR2
 *   stubborn  ready, but ends on nothing
 *   mute      never says that it is ready
 *   crash     ends with 1 at once          misused   ends with 2 at once
 *   frail     ends with 1 once it is ready
 */
import { announceReady, onSupervisorGone } from '../../src/local/supervised.ts';

const behaviour = process.argv[2] ?? 'serve';
const keepAlive = setInterval(() => undefined, 60_000);
const end = (): void => clearInterval(keepAlive);

switch (behaviour) {
  case 'crash':
  case 'misused':
    process.stderr.write(`stub: I ${behaviour}\n`);
    process.exit(behaviour === 'crash' ? 1 : 2);
    break;
  case 'stubborn':
    process.on('SIGTERM', () => undefined);
    announceReady();
    break;
  case 'mute':
    process.stderr.write('stub: I say nothing\n');
    process.on('SIGTERM', () => process.exit(0));
    break;
  default:
    process.on('SIGTERM', () => {
      process.disconnect();
      end();
    });
    process.on('SIGUSR2', () => {
      process.stderr.write('stub: my settings are wrong\n');
      process.exit(2);
    });
    onSupervisorGone(end);
    announceReady();
    if (behaviour === 'frail') setTimeout(() => process.exit(1), 10);
}
