/**
 * A process that campaigns for a lock and, while it leads, writes its name over and over, fenced. It tells what
 * happens as lines of JSON. SIGTERM ends it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure } from '../../src/domain/failure.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { connectNats } from '../../src/nats/connect.ts';
import { runAsLeader } from '../../src/nats/leader.ts';
import { keys } from '../../src/wire/names.ts';
import { quietLog } from './nats-server.ts';

const [url = '', name = '', ttlMs = '', owner = ''] = process.argv.slice(2);
const quiet = new AbortController();
process.once('SIGTERM', () => quiet.abort());
const connection = await connectNats({
  access: { url: [url] },
  name: owner,
  log: quietLog,
  whenUnreachable: 'fail',
});
const bucket = openBucket(connection, 'cluster');
const value = new TextEncoder().encode(owner);
const say = (line: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** A write that was under way when the process was stopped may have had its time: what became of it nobody knows. */
const unlessRefused = (error: unknown): void => {
  if (asFailure(error).code === 'CONFLICT') throw error;
};

say({ event: 'campaigning' });
await runAsLeader({
  bucket,
  name,
  ttlMs: Number(ttlMs),
  owner,
  log: quietLog,
  quiet: quiet.signal,
  async lead(term) {
    let revision = term.token();
    say({ event: 'leading' });
    try {
      // Until it is told to stop, or refused: that the term is over it learns from nothing else here.
      while (!quiet.signal.aborted) {
        revision = term.token();
        await term.fencedPut('run.leader', value).catch(unlessRefused);
        await delay(10);
      }
    } catch (error) {
      say({ event: 'refused', code: asFailure(error).code });
      // What a leader without any sense of time would do: the server is the one that must say no.
      const stale = { fence: { key: keys.lock(name), revision } };
      await bucket.put('run.leader', value, stale).catch((refusal: unknown) => {
        say({ event: 'refused-by-server', code: asFailure(refusal).code });
      });
    }
    say({ event: 'stepped-down' });
  },
});
await connection.close();
