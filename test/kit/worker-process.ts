/**
 * A worker in a process of its own, to be killed, stopped and woken. Tells what it does as lines of JSON.
 *
 *   hang    says `started` and ends after `input.ms`
 *   hold    says `started` and ends when the process gets a SIGUSR2
 *   poison  ends the process, if `input.poison` says so
 */
import { connectNats } from '../../src/nats/connect.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { quietLog } from './nats-server.ts';
import { startWorker } from './task-worker.ts';

const [url = '', worker = '', leaseMs = '', concurrency = ''] = process.argv.slice(2);
const say = (line: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const connection = await connectNats({
  access: { url: [url] },
  name: worker,
  log: quietLog,
  whenUnreachable: 'fail',
});
const wait = (ms: unknown): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, typeof ms === 'number' ? ms : 10));

const { ended } = startWorker(
  { teardown: () => undefined },
  {
    connection,
    log: createLog({
      level: 'debug',
      format: 'json',
      write: (line) => void process.stdout.write(`${line}\n`),
    }),
    limits: { worker, leaseMs: Number(leaseMs), concurrency: Number(concurrency) },
    scrapers: [
      {
        name: 'hang',
        async run({ input, task }) {
          say({ event: 'started', key: task.key });
          await wait(input['ms']);
          say({ event: 'ended', key: task.key });
        },
      },
      {
        name: 'hold',
        async run({ task }) {
          const told = new Promise((resolve) => process.once('SIGUSR2', resolve));
          say({ event: 'started', key: task.key });
          await told;
        },
      },
      {
        name: 'poison',
        async run({ input }) {
          await wait(5);
          if (input['poison'] === true) process.kill(process.pid, 'SIGKILL');
          await wait(20);
        },
      },
    ],
  },
);
await ended;
await connection.close();
