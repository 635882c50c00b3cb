/** Three nats-servers, three copies of every stream: the cluster goes on while one of them is dead, and it comes back. */
import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../src/domain/secret.ts';
import { connectNats } from '../../src/nats/connect.ts';
import type { ActorRow } from '../../src/policy/actor-rows.ts';
import { quietLog } from '../kit/nats-server.ts';
import { installTrawl } from '../kit/trawl.ts';

t.test('one server of three is killed', { timeout: 120_000 }, async (t) => {
  const trawl = await installTrawl(t, { NODES: '3', WORKERS: '1' });
  t.match(await trawl.json('up'), { outcome: 'started' });
  const password = new Secret(readFileSync(join(trawl.home, 'secrets/app.password'), 'utf8').trim());
  const url = [0, 1, 2].map((node) => `nats://127.0.0.1:${trawl.portBase + node}`);
  const connection = await connectNats({
    access: { url, user: 'trawl', password },
    name: 'test',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());

  const info = await connection.jsm.streams.info('LEDGER');
  t.equal(info.config.num_replicas, 3);
  const stored = await connection.js.publish('trawl.event.test.before', 'x');
  t.ok(stored.seq > 0);

  const { actors } = await trawl.json<{ actors: ActorRow[] }>('status');
  const leader = (await connection.jsm.streams.info('EVENTS')).cluster?.leader ?? '';
  const victim = actors.find(({ id }) => leader.endsWith(id.replace('nats-', '-')));
  t.ok(victim?.pid, `the leader ${leader} is one of ours`);
  process.kill(victim?.pid ?? 0, 'SIGKILL');

  // Writes go on once the other two have agreed on a new leader; an election takes some seconds.
  const until = Date.now() + 30_000;
  for (;;) {
    try {
      await connection.js.publish('trawl.event.test.after', 'y', { timeout: 2_000 });
      break;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
  const kept = await connection.jsm.streams.getMessage('EVENTS', { last_by_subj: 'trawl.event.test.before' });
  t.equal(kept?.string(), 'x', 'nothing acknowledged is lost');
  const after = await trawl.json<{ actors: ActorRow[] }>('status');
  t.match(
    after.actors.filter(({ role }) => role === 'worker'),
    [{ state: 'running' }],
  );
  t.ok(
    (after.actors.find(({ id }) => id === victim?.id)?.restarts ?? 0) >= 1,
    'the supervisor started it again',
  );
});
